/** Does it for each, `atOnce` of them at a time. */
export async function someAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  task: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items].toReversed();
  const workOff = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, workOff));
}
