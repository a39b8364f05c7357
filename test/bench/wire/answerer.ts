// The other node: a process of its own that answers as an owner would, from memory and at once.
import { clock, timers } from '../../../src/platform/clock.ts';
import { openPeers } from '../../../src/platform/peers/peers.ts';
import type { Request } from './wire.ts';

const say = (fields: object, message: string): void => console.error(message, fields);

openPeers({
  listen: { hostname: '127.0.0.1', port: Number(process.env['PORT']) },
  secret: process.env['NODE_SECRET'] ?? '',
  self: `127.0.0.1:${process.env['PORT'] ?? ''}`,
  clock,
  timers,
  log: { info: say, warn: say, error: say },
  answer(request) {
    const { command } = request as Request;
    return {
      kind: 'accepted',
      balance: { granted: 10_000_000n, used: command.value, remaining: 123n, isUnlimited: false },
      eventId: command.idempotencyKey,
      at: command.occurredAt,
      overage: null,
    };
  },
});
