// The other node: a process of its own that answers at once from memory, as an owner would.
import { clock, timers } from '../../../src/platform/clock.ts';
import { listenOn } from '../../../src/platform/net/listen.ts';
import { OpenPeers } from '../../../src/platform/peers/peers.ts';
import type { Request } from './wire.ts';

const listen = { hostname: '127.0.0.1', port: Number(process.env['PORT']) };
const secret = process.env['NODE_SECRET'] ?? '';
const say = (fields: object, message: string): void => console.error(message, fields);
const log = { info: say, warn: say, error: say };

listenOn(
  { port: listen.port, setBy: 'PORT' },
  () =>
    new OpenPeers({
      listen,
      secret,
      self: `127.0.0.1:${process.env['PORT'] ?? ''}`,
      answer,
      clock,
      timers,
      log,
    }),
);

function answer(request: unknown): unknown {
  const { command } = request as Request;
  return {
    kind: 'accepted',
    balance: { granted: 10_000_000n, used: command.value, remaining: 123n, isUnlimited: false },
    eventId: command.idempotencyKey,
    at: command.occurredAt,
    overage: null,
  };
}
