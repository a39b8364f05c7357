// Counts requests by their answer.

/** Means no answer. */
const NONE = 0;

export class Tally {
  readonly #counts = new Map<string, Map<number, number>>();

  /** Status 0 where no answer came. */
  count(kind: string, status: number): void {
    const ofKind = this.#counts.get(kind) ?? new Map<number, number>();
    this.#counts.set(kind, ofKind.set(status, (ofKind.get(status) ?? 0) + 1));
  }

  get total(): number {
    return [...this.#counts.values()].flatMap((of) => [...of.values()]).reduce((a, b) => a + b, 0);
  }

  /** One line for each kind. */
  lines(): string[] {
    const kinds = [...this.#counts].sort(([a], [b]) => a.localeCompare(b));
    return kinds.map(([kind, of]) => {
      const counts = [...of].sort(([a], [b]) => a - b);
      const text = counts.map(
        ([status, count]) => `${status === NONE ? 'none' : status}: ${count}`,
      );
      return `${kind.padEnd(10)} ${text.join(', ')}`;
    });
  }
}
