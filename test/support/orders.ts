/** These in each order. */
export function* orders<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length < 2) yield items;
  else
    for (const [index, first] of items.entries()) {
      for (const rest of orders(items.toSpliced(index, 1))) yield [first, ...rest];
    }
}
