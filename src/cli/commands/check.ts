// `tollhouse check FEATURE --customer ID`: whether a customer may use a feature.
import { toWire } from '../../client/wire-names.ts';
import { command, EXIT } from '../command.ts';
import { payersOf, restOf } from '../format.ts';
import { quantityOf } from '../values.ts';

export const check = command({
  about: 'Ask whether a customer may use a feature',
  args: [{ name: 'FEATURE', about: 'the slug of the meter' }],
  options: {
    customer: { value: 'ID', about: 'the external id of the customer', isRequired: true },
    value: { value: 'N', about: 'how much of it (default: 1)' },
  },
  notes: ['Exits with 0 where it is allowed and with 3 where it is denied.'],
  async run({ client, out, isJson }, { options, args: [featureKey = ''] }) {
    const value = quantityOf('--value', options.value);
    const answer = await client().check({
      featureKey,
      externalCustomerId: options.customer,
      ...(value !== undefined && { value }),
    });
    const { allowed, reason } = answer;
    const verdict = allowed ? out.paint('green', 'allowed') : out.paint('red', 'denied');
    const text = `${verdict}  ${reason}  ${restOf(answer)}${payersOf(answer.paidBy)}`;
    await out.line(isJson ? JSON.stringify(toWire(answer)) : text);
    return allowed ? EXIT.ok : EXIT.denied;
  },
});
