// `tollhouse trigger TYPE`: makes an event happen, for those who wait for one.
//
// Nothing is made up: a payment is a checkout paid with a card of the sandbox. So the event reaches
// `listen`, every endpoint and the lists, with the other events that belong to it.
import { randomBytes } from 'node:crypto';
import type { Tollhouse } from '../../client/tollhouse.ts';
import type { Event, EventType } from '../../client/types.ts';
import { command, EXIT, type Pause, Refused } from '../command.ts';
import { eventLine } from '../event-rows.ts';
import { RECIPES } from '../trigger/recipes.ts';
import { Sandbox } from '../trigger/sandbox.ts';

const RECIPE_OF = new Map(Object.entries(RECIPES));
const TYPES = [...RECIPE_OF.keys()];
/** What the sandbox settles later takes some seconds. */
const WITHIN_MS = 30_000;
const ASK_EVERY_MS = 250;

export const trigger = command({
  about: 'Make an event happen, in test mode',
  args: [{ name: 'TYPE', about: 'the type of the event', choices: TYPES }],
  options: {},
  notes: ['It happens to a new customer, and what belongs to it happens too.'],
  async run(cli, { args: [type = ''] }) {
    if (!cli.apiKey().startsWith('svc_test_'))
      throw new Refused('trigger needs a key of test mode');
    const client = cli.client();
    const sandbox = await Sandbox.open(client, randomBytes(8).toString('hex'));
    const made = await RECIPE_OF.get(type)?.(sandbox);
    const about = [sandbox.customer.id, made?.id];
    const event = await found({ client, pause: cli.pause }, type, ({ data }) =>
      about.some((id) => id === data.accountId || id === data.objectId),
    );
    await cli.out.line(cli.isJson ? JSON.stringify(event) : eventLine(cli.out, event));
    return EXIT.ok;
  },
});

/** The newest events of a type are few enough to look at, while others are made too. */
const LOOKED_AT = 200;

async function found(
  { client, pause }: { readonly client: Tollhouse; readonly pause: Pause },
  type: string,
  isIt: (event: Event) => boolean,
): Promise<Event> {
  const until = performance.now() + WITHIN_MS;
  for (;;) {
    const { data } = await client.events.list({ type: type as EventType, limit: LOOKED_AT });
    const event = data.find(isIt);
    if (event !== undefined) return event;
    if (performance.now() > until) throw new Refused(`no ${type} within ${WITHIN_MS / 1000} s`);
    await pause(ASK_EVERY_MS);
  }
}
