// The faults that a run plants: one for each change that an operator finds in a file.
import { type Change, changesIn } from './operators.ts';

export type Mutant = {
  readonly file: string;
  /** The original file. */
  readonly text: string;
  readonly change: Change;
  readonly line: number;
  readonly lastLine: number;
};

export async function mutantsOf(root: string, files: readonly string[]): Promise<Mutant[]> {
  const all: Mutant[] = [];
  for (const file of files) {
    const text = await Bun.file(`${root}/${file}`).text();
    const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
    for (const change of changesIn(file, text)) {
      const { start, end } = change.at;
      all.push({ file, text, change, line: lineOf(start), lastLine: lineOf(end) });
    }
  }
  return all;
}

export function planted({ text, change: { at, becomes } }: Mutant): string {
  return text.slice(0, at.start) + becomes + text.slice(at.end);
}

/** `count` of them, and the same ones for the same seed. */
export function sampleOf(all: readonly Mutant[], count: number, seed: string): readonly Mutant[] {
  const lot = (mutant: Mutant): bigint => {
    const { at, becomes } = mutant.change;
    return Bun.hash(`${seed} ${mutant.file} ${at.start} ${at.end} ${becomes}`);
  };
  const drawn = all.map((mutant) => ({ mutant, lot: lot(mutant) }));
  drawn.sort((a, b) => (a.lot < b.lot ? -1 : 1));
  const taken = new Set(drawn.slice(0, count).map(({ mutant }) => mutant));
  return all.filter((mutant) => taken.has(mutant));
}
