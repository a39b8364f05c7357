// The cached customers are never older than the last notification; and notifications about other
// customers delay nothing.
import { expect, test } from 'bun:test';
import { Directory } from '../../ledger/actor/directory.ts';
import { RemoteCustomer } from '../../ledger/cluster/remote-customer.ts';
import { everySlot } from '../../ledger/actor/own-slots.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';

/** A directory whose rows change at each read, `until` they have been read that often. */
function readers(
  until: number,
  changed: (directory: Directory<RemoteCustomer>, id: string) => void,
) {
  const organisationId = ids.next();
  let reads = 0;
  const directory: Directory<RemoteCustomer> = new Directory({
    slots: everySlot(),
    timers,
    max: { actors: 10, bytes: Infinity },
    load: async ([id = '']) => {
      reads += 1;
      if (reads < until) changed(directory, id);
      const names = {
        externalId: `read ${reads}`,
        email: null,
        organisationId,
        mode: 'test',
      } as const;
      return [new RemoteCustomer({ id, slot: slotOf(id), ...names })];
    },
  });
  return { directory, reads: () => reads };
}

test('a directory row that changes while it is read is read again, until it does not', async () => {
  for (const changed of [
    (directory: Directory<RemoteCustomer>, id: string) => directory.forget(id),
    (directory: Directory<RemoteCustomer>) => directory.forgetAll(),
  ]) {
    const { directory, reads } = readers(4, changed);
    const found = await directory.find(ids.next());
    expect(reads()).toBe(4);
    expect(found?.customer.externalId).toBe('read 4');
  }
});

test('a directory row is read once, however many others change meanwhile', async () => {
  const { directory, reads } = readers(1000, (told) => told.forget(ids.next()));
  await directory.find(ids.next());
  expect(reads()).toBe(1);
});
