/** inParallel does something for each item, several at a time, in order. */
export async function inParallel<T>(items: readonly T[], atATime: number, act: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (;;) {
      const item = items[next++]
      if (item === undefined) return
      await act(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atATime, items.length) }, worker))
}
