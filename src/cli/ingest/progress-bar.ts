// The line that a terminal shows while a file is read.
import { bar, clockTime, number } from '../format.ts';
import type { Printer } from '../printer.ts';
import type { Progress } from './progress.ts';

const DRAW_EVERY_MS = 100;
const WIDTH = 24;

export class ProgressBar {
  readonly #printer: Printer;
  readonly #size: number | null;
  readonly #from: Progress;
  readonly #began = performance.now();
  #drawnAt = -DRAW_EVERY_MS;

  /** `size`: of the whole file, in bytes; null where it is unknown. */
  constructor(printer: Printer, of: { readonly size: number | null; readonly from: Progress }) {
    this.#printer = printer;
    this.#size = of.size;
    this.#from = of.from;
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  show(progress: Progress): void {
    const now = performance.now();
    if (now - this.#drawnAt < DRAW_EVERY_MS) return;
    this.#drawnAt = now;
    const line = progressLine(progress, {
      from: this.#from,
      size: this.#size,
      seconds: this.seconds,
    });
    this.#printer.draw(line.slice(0, this.#printer.width - 1));
  }
}

export function progressLine(
  progress: Progress,
  of: { readonly from: Progress; readonly size: number | null; readonly seconds: number },
): string {
  const { from, size, seconds } = of;
  const perSecond = (amount: number) => (seconds > 0 ? amount / seconds : 0);
  const rate = Math.round(perSecond(progress.lines - from.lines));
  const parts = [`${number(progress.lines)} lines`, `${number(rate)}/s`];
  if (size !== null) {
    const share = size === 0 ? 1 : Math.min(1, progress.offset / size);
    parts.unshift(bar(share, WIDTH), `${String(Math.floor(share * 100)).padStart(3)} %`);
    const bytesPerSecond = perSecond(progress.offset - from.offset);
    const left = Math.max(0, size - progress.offset);
    if (bytesPerSecond > 0) parts.push(`ETA ${clockTime(left / bytesPerSecond)}`);
  }
  if (progress.rejected > 0) parts.push(`${number(progress.rejected)} rejected`);
  return parts.join('  ');
}
