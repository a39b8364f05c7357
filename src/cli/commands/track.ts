// `tollhouse track FEATURE --customer ID`: records a use.
import { toWire } from '../../client/wire-names.ts';
import { command, EXIT } from '../command.ts';
import { number, restOf } from '../format.ts';
import { quantityOf } from '../values.ts';

export const track = command({
  about: 'Record that a customer used a feature',
  args: [{ name: 'FEATURE', about: 'the slug of the meter' }],
  options: {
    customer: { value: 'ID', about: 'the external id of the customer', isRequired: true },
    value: { value: 'N', about: 'how much of it; below 0 is a correction (default: 1)' },
    key: { value: 'KEY', about: 'a key under which it counts once, however often it is sent' },
  },
  async run({ client, out, isJson }, { options, args: [featureKey = ''] }) {
    const value = quantityOf('--value', options.value);
    const answer = await client().track({
      featureKey,
      externalCustomerId: options.customer,
      ...(value !== undefined && { value }),
      ...(options.key !== undefined && { idempotencyKey: options.key }),
    });
    const what = answer.duplicate ? out.paint('yellow', 'already recorded') : 'recorded';
    await out.line(
      isJson
        ? JSON.stringify(toWire(answer))
        : `${what}  ${number(answer.value)}  ${restOf(answer)}`,
    );
    return EXIT.ok;
  },
});
