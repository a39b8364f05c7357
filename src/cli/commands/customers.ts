// `tollhouse customers list|get|create`.
import type { Customer } from '../../client/types.ts';
import { toWire } from '../../client/wire-names.ts';
import { columns } from '../columns.ts';
import { command, EXIT, UsageError } from '../command.ts';
import { type Printer, shown } from '../printer.ts';
import { countOf } from '../values.ts';

const PAGE_MAX = 200;

export const listCustomers = command({
  about: 'List customers, newest first',
  args: [],
  options: {
    limit: { value: 'N', about: `how many, 1 to ${PAGE_MAX} (default: 50)` },
    after: { value: 'ID', about: 'go on behind this customer' },
  },
  async run({ client, out, isJson }, { options }) {
    const limit = countOf('--limit', options.limit, PAGE_MAX);
    const page = await client().customers.list({
      ...(limit !== undefined && { limit }),
      ...(options.after !== undefined && { after: options.after }),
    });
    if (isJson) {
      await out.line(JSON.stringify(toWire(page)));
      return EXIT.ok;
    }
    const rows = page.data.map(({ id, externalCustomerId, name, email }) => [
      id,
      ...[externalCustomerId, name, email].map((text) => shown(text ?? '-')),
    ]);
    for (const line of columns(rows)) await out.line(line);
    const last = page.data.at(-1);
    if (page.hasMore && last !== undefined) {
      await out.line(out.paint('dim', `more: --after ${last.id}`));
    }
    return EXIT.ok;
  },
});

export const getCustomer = command({
  about: 'Show a customer',
  args: [{ name: 'CUSTOMER', about: 'its id or external id' }],
  options: {},
  async run({ client, out, isJson }, { args: [id = ''] }) {
    await show(out, await client().customers.retrieve(id), isJson);
    return EXIT.ok;
  },
});

export const createCustomer = command({
  about: 'Create a customer',
  args: [],
  options: {
    'external-id': { value: 'ID', about: 'your own id of it' },
    email: { value: 'ADDRESS', about: 'its e-mail address' },
    name: { value: 'NAME', about: 'its name' },
  },
  async run({ client, out, isJson }, { options }) {
    const { 'external-id': externalCustomerId, email, name } = options;
    const fields = {
      ...(externalCustomerId !== undefined && { externalCustomerId }),
      ...(email !== undefined && { email }),
      ...(name !== undefined && { name }),
    };
    if (Object.keys(fields).length === 0) {
      throw new UsageError('customers create needs --external-id, --email or --name');
    }
    await show(out, await client().customers.create(fields), isJson);
    return EXIT.ok;
  },
});

async function show(out: Printer, customer: Customer, isJson: boolean): Promise<void> {
  if (isJson) return out.line(JSON.stringify(toWire(customer)));
  const rows = Object.entries(toWire(customer) as Record<string, unknown>).map(([name, value]) => [
    name,
    shown(typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
  for (const line of columns(rows)) await out.line(line);
}
