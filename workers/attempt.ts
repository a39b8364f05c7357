// One attempt at a delivery: sign, send, judge.
import type { Clock } from '../ledger/ports.ts';
import type { Secrets } from '../src/platform/crypto/secrets.ts';
import { envelopeOf } from '../src/records/events.ts';
import type { Due, Target } from './claims.ts';
import { judge, type Verdict } from './retry-policy.ts';
import type { Sender, Sent } from './sender.ts';
import type { Result } from './settler.ts';
import { LEGACY_HEADERS, signatureHeaders } from './sign.ts';

const DEADLINE_MS = 10_000;

/** For one claim: its endpoint's secrets are decrypted once. */
export type Attempts = (target: Target) => (due: Due) => Promise<Result>;

export type AttemptDeps = {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly sender: Sender;
  /** Whether an endpoint in test mode may be on this machine. */
  readonly allowLoopback: boolean;
  /** 0 to 1. */
  readonly random: () => number;
};

export function openAttempts(deps: AttemptDeps): Attempts {
  return (target) => {
    const keys = keysOf(deps, target);
    return (due) => attempt(deps, { target, keys, due });
  };
}

type Keys = { readonly secret: string; readonly previous: string | null };

async function attempt(
  deps: AttemptDeps,
  { target, keys, due }: { target: Target; keys: Keys; due: Due },
): Promise<Result> {
  const { clock, sender, random, allowLoopback } = deps;
  const { event, deliveryId } = due;
  const at = clock.now();
  // The same bytes at each attempt: an event does not change, and its envelope follows from it.
  const body = JSON.stringify(envelopeOf(event));
  const sent = await sender.send({
    url: target.url,
    headers: signatureHeaders({ id: event.id, body, at, ...keys, legacy: LEGACY_HEADERS }),
    body,
    deadlineMs: DEADLINE_MS,
    allowLoopback: allowLoopback && target.mode === 'test',
  });
  const answered = sent.kind === 'answered' ? sent : null;
  const ended = clock.now();
  const verdict = judge({
    attempts: due.attempts + 1,
    firstAt: due.firstAt?.getTime() ?? at,
    at: ended,
    statusCode: answered?.statusCode ?? null,
    retryAfter: answered?.retryAfter ?? null,
    random: random(),
  });
  return {
    deliveryId,
    endpointId: target.endpointId,
    url: target.url,
    wasFailing: target.failures > 0 || target.failingSince !== null,
    isGone: verdict.kind === 'gone',
    ...dueOf(verdict, ended),
    at,
    ...logOf(sent),
  };
}

function keysOf({ secrets, clock }: AttemptDeps, target: Target): Keys {
  const { endpointId, secret, previousSecret, previousSecretUntil } = target;
  const signsAlong = previousSecret !== null && clock.now() < (previousSecretUntil?.getTime() ?? 0);
  return {
    secret: secrets.open(secret, endpointId),
    previous: signsAlong ? secrets.open(previousSecret, endpointId) : null,
  };
}

function dueOf(verdict: Verdict, now: number): Pick<Result, 'status' | 'nextAt'> {
  switch (verdict.kind) {
    case 'retry':
      return { status: 'pending', nextAt: verdict.at };
    case 'gone':
      return { status: 'held', nextAt: now };
    case 'delivered':
    case 'exhausted':
      return { status: verdict.kind, nextAt: now };
    default:
      return verdict satisfies never;
  }
}

function logOf(
  sent: Sent,
): Pick<Result, 'statusCode' | 'error' | 'durationMs' | 'address' | 'responseHead'> {
  const { address, durationMs } = sent;
  return sent.kind === 'answered'
    ? { statusCode: sent.statusCode, error: null, durationMs, address, responseHead: sent.head }
    : { statusCode: null, error: sent.error, durationMs, address, responseHead: null };
}
