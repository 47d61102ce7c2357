/**
 * Waits for an owner's function at most `ms`. Its statements end by `statement_timeout`; this ends what it awaits beside
 * them. Late statements of it fail, since its transaction is over by then.
 */
export async function bound<T>(work: Promise<T>, ms: number, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`transition ${name} did not end within ${Math.round(ms)} ms`)), ms)
  })
  try {
    return await Promise.race([work, overdue])
  } finally {
    clearTimeout(timer)
  }
}
