// Charts as SVG, drawn on the server.
//
// Holds: each bar has its numbers as a title, and the same numbers stand in a table below, which
// opens without a script: what is only seen is also read.
import { type Html, html } from '../../pages/html.ts';
import { type Cell } from './parts.ts';
import { table } from './tables.ts';

export type Bar = {
  /** Of its stretch of time, for people. */
  readonly label: string;
  /** Not negative, for its height alone: what is shown is `text`. */
  readonly height: number;
  readonly text: string;
};

const WIDTH = 720;
const HEIGHT = 160;
const GAP = 1;

/**
 * A bar for each stretch of time. `unit` names what is counted. A second series is drawn as a line
 * behind the bars: the week before.
 */
export function chart(of: {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  readonly before?: readonly Bar[];
  /** So that a script finds it in the page as it is now. */
  readonly id?: string;
}): Html {
  const { title, unit, bars, before = [], id } = of;
  const highest = Math.max(1, ...[...bars, ...before].map(({ height }) => height));
  const step = WIDTH / Math.max(1, bars.length);
  const heightOf = ({ height }: Bar) => Math.max(height > 0 ? 2 : 0, (height / highest) * HEIGHT);
  const rows: Cell[][] = bars.map((bar, at) => [
    bar.label,
    bar.text,
    ...(before.length > 0 ? [before[at]?.text ?? '–'] : []),
  ]);
  const columns = ['When', { label: unit, isNumber: true } as const];
  return html`<figure class="chart" ${id === undefined ? null : html`id="${id}" data-live`}>
    <figcaption>${title}</figcaption>
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${title}"
    >
      ${bars.map((bar, at) => {
        const height = heightOf(bar);
        return html`<rect
          x="${(at * step).toFixed(2)}"
          y="${(HEIGHT - height).toFixed(2)}"
          width="${Math.max(0.5, step - GAP).toFixed(2)}"
          height="${height.toFixed(2)}"
        >
          <title>${bar.label}: ${bar.text}</title>
        </rect>`;
      })}
      ${
        before.length === 0
          ? null
          : html`<polyline
              points="${before
                .map(
                  (bar, at) =>
                    `${(at * step + step / 2).toFixed(2)},${(HEIGHT - heightOf(bar)).toFixed(2)}`,
                )
                .join(' ')}"
            />`
      }
    </svg>
    <details>
      <summary>As a table</summary>
      ${table({
        caption: title,
        columns: before.length > 0 ? [...columns, { label: 'Before', isNumber: true }] : columns,
        rows,
        empty: 'Nothing yet.',
      })}
    </details>
  </figure>`;
}
