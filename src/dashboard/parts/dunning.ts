// What happens to a payment that fails, as a picture and as words.
import type { Dunning } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';

type Step = {
  readonly day: number;
  readonly kind: 'retry' | 'block' | 'end';
  readonly text: string;
};

/** In the order of their days. */
function stepsOf({ retryDays, blockAfterDays, expireAfterDays }: Dunning): Step[] {
  const steps: Step[] = [
    { day: 0, kind: 'retry', text: 'The payment fails. The customer keeps access.' },
    ...retryDays.map((day) => ({ day, kind: 'retry' as const, text: 'The payment is retried.' })),
    { day: blockAfterDays, kind: 'block', text: 'Access is suspended until the invoice is paid.' },
    { day: expireAfterDays, kind: 'end', text: 'The subscription ends.' },
  ];
  return steps.toSorted((a, b) => a.day - b.day);
}

const WIDTH = 720;
const EDGE = 12;
const HEIGHT = 40;

export function dunningPicture(dunning: Dunning): Html {
  const steps = stepsOf(dunning);
  const days = Math.max(1, dunning.expireAfterDays);
  const at = (day: number) => (EDGE + ((WIDTH - 2 * EDGE) * day) / days).toFixed(1);
  const line = (from: number, to: number, kind: string) =>
    html`<line
      class="${kind}"
      x1="${at(from)}"
      x2="${at(to)}"
      y1="${HEIGHT / 2}"
      y2="${HEIGHT / 2}"
    />`;
  return html`<figure class="chart dunning">
    <figcaption>From the first failure to the end</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="The days of the list below">
      ${line(0, dunning.blockAfterDays, 'open')}
      ${line(dunning.blockAfterDays, dunning.expireAfterDays, 'closed')}
      ${steps.map(
        ({ day, kind, text }) =>
          html`<circle class="${kind}" cx="${at(day)}" cy="${HEIGHT / 2}" r="8">
            <title>Day ${day}: ${text}</title>
          </circle>`,
      )}
    </svg>
    <ol class="steps">
      ${steps.map(
        ({ day, kind, text }) => html`<li class="${kind}"><strong>Day ${day}</strong> ${text}</li>`,
      )}
    </ol>
  </figure>`;
}
