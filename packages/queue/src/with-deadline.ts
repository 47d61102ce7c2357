/** Rejects when `promise` has not settled after `ms`. What it started goes on; its late failure is swallowed. */
export function withDeadline<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  promise.catch(() => {})
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
