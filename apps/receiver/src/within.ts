/** Waits for the promise, at most until `endsAt` (`performance.now()` ms); a rejection is as good as the end of the wait. */
export async function within(promise: Promise<unknown>, endsAt: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, endsAt - performance.now()))
  })
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}
