// `tollhouse balance CUSTOMER`: a bar for each feature.
import type { Balance } from '../../client/types.ts';
import { toWire } from '../../client/wire-names.ts';
import { columns } from '../columns.ts';
import { command, EXIT } from '../command.ts';
import { bar, number } from '../format.ts';
import { type Colour, type Printer, shown } from '../printer.ts';

const BAR_WIDTH = 24;
/** From this share of a limit on the bar warns. */
const NEARLY_USED = 0.8;

export const balance = command({
  about: 'Show what a customer has of each feature, and what is used of it',
  args: [{ name: 'CUSTOMER', about: 'its id or external id' }],
  options: { feature: { value: 'FEATURE', about: 'of this feature alone' } },
  async run({ client, out, isJson }, { options, args: [id = ''] }) {
    const { feature: featureKey } = options;
    const list = client().customers.listBalances(
      id,
      featureKey === undefined ? {} : { featureKey },
    );
    const { data } = await list;
    if (isJson) {
      await out.line(JSON.stringify(toWire({ data })));
      return EXIT.ok;
    }
    if (data.length === 0) await out.line('no features');
    const names = columns(data.map((row) => [shown(row.featureKey), '']));
    const widest = Math.max(0, ...names.map((name) => name.length));
    for (const [at, row] of data.entries()) {
      await out.line(`${(names[at] ?? '').padEnd(widest)}  ${drawn(out, row)}`);
    }
    return EXIT.ok;
  },
});

function drawn(out: Printer, row: Balance): string {
  const { limit, consumed, reserved, resetsAt } = row;
  const resets = resetsAt === null ? '' : out.paint('dim', `  resets ${resetsAt.slice(0, 10)}`);
  if (limit === null) return `${' '.repeat(BAR_WIDTH)}  ${number(consumed)} / unlimited${resets}`;
  const used = consumed + reserved;
  // Only the picture is made of floating point.
  const share = limit === 0 ? Number(used > 0) : used / limit;
  const held = reserved === 0 ? '' : ` (${number(reserved)} held)`;
  const picture = out.paint(colourOf(share), bar(share, BAR_WIDTH));
  return `${picture}  ${number(consumed)} / ${number(limit)}${held}${resets}`;
}

function colourOf(share: number): Colour {
  if (share >= 1) return 'red';
  return share >= NEARLY_USED ? 'yellow' : 'green';
}
