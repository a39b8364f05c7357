// What `tollhouse trigger` does: each type that it offers really happens.
import { expect, test } from 'bun:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { Setting } from './runner.ts';

const TYPES = COMMANDS['trigger']!.args[0]!.choices!;

export function triggersTypes(of: () => Setting): void {
  test.each(TYPES)('tollhouse trigger %s', async (type) => {
    const { server, runner } = of();
    const { exitCode, stderr, json } = await runner.run(['trigger', type, '--json']);
    expect([exitCode, stderr]).toEqual([0, '']);
    const event = json();
    expect(event.type).toBe(type);
    expect((await server.call('GET', `/events/${event.id}`)).json).toEqual(event);
  });

  test('tollhouse trigger refuses a live key', async () => {
    const { server, runner } = of();
    const env = { TOLLHOUSE_API_KEY: server.organisation.liveKey };
    const refused = await runner.run(['trigger', 'customer.created'], { env });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: 'tollhouse: trigger needs a key of test mode\n',
    });
  });
}
