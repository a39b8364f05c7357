import type { Log, Timers } from '../../ledger/ports.ts';
import type { Instrument, Processor } from './processor.ts';

export type GuardOptions = {
  readonly timers: Timers;
  /** How long an answer is waited for. */
  readonly deadlineMs: number;
  readonly log: Log;
};

type Unknown = { readonly kind: 'unknown' };
const UNKNOWN: Unknown = { kind: 'unknown' };

type Question = {
  readonly call: string;
  readonly id: string;
  readonly instrument?: Instrument | null;
};

/**
 * Wraps a processor so that it keeps the port's promise about failure: an exception or a late
 * answer is `unknown`.
 */
export function guarded(processor: Processor, options: GuardOptions): Processor {
  const { timers, deadlineMs, log } = options;

  function within<R>(
    { call, id, instrument = null }: Question,
    ask: () => Promise<R>,
  ): Promise<R | Unknown> {
    const fields = { processor: processor.name, call, id };
    return new Promise((resolve) => {
      const cancel = timers.after(deadlineMs, () => {
        log.warn(
          { ...fields, ms: deadlineMs },
          'the processor has not answered: the outcome is unknown',
        );
        resolve(UNKNOWN);
      });
      const failed = (error: unknown): void => {
        cancel();
        log.error(
          { ...fields, ...described(error, instrument) },
          'the processor failed: the outcome is unknown',
        );
        resolve(UNKNOWN);
      };
      const answered = (result: R): void => {
        cancel();
        resolve(result);
      };
      // A synchronous throw is caught like a rejection.
      Promise.resolve().then(ask).then(answered, failed);
    });
  }

  return {
    name: processor.name,
    page: processor.page,
    pageOrigin: processor.pageOrigin,
    actionMs: processor.actionMs,
    firstAskMs: processor.firstAskMs,
    retryLostMs: processor.retryLostMs,
    refusalOf: (amount, currency) => processor.refusalOf(amount, currency),
    charge: (request) =>
      within({ call: 'charge', id: request.key, instrument: request.instrument }, () =>
        processor.charge(request),
      ),
    chargeSaved: (request) =>
      within({ call: 'chargeSaved', id: request.key }, () => processor.chargeSaved(request)),
    forget: (id) => within({ call: 'forget', id }, () => processor.forget(id)),
    findCharge: (id) => within({ call: 'findCharge', id }, () => processor.findCharge(id)),
    confirmCharge: (id) => within({ call: 'confirmCharge', id }, () => processor.confirmCharge(id)),
    cancelCharge: (id) => within({ call: 'cancelCharge', id }, () => processor.cancelCharge(id)),
    refund: (request) =>
      within({ call: 'refund', id: request.key }, () => processor.refund(request)),
    findRefund: (id) => within({ call: 'findRefund', id }, () => processor.findRefund(id)),
    findDisputes: (id) => within({ call: 'findDisputes', id }, () => processor.findDisputes(id)),
  };
}

/**
 * An error for the log, without its own fields and without what the buyer typed: an adapter may
 * quote either.
 */
function described(
  error: unknown,
  instrument: Instrument | null,
): { readonly error: string; readonly reason: string } {
  if (!(error instanceof Error)) return { error: typeof error, reason: '' };
  let reason = error.message;
  for (const typed of typedOf(instrument)) reason = reason.replaceAll(typed, '[hidden]');
  return { error: error.name, reason };
}

function typedOf(instrument: Instrument | null): readonly string[] {
  if (instrument === null) return [];
  const typed =
    instrument.type === 'card'
      ? [instrument.number, instrument.expiry, instrument.cvc]
      : [instrument.iban];
  const withoutSpaces = typed.map((text) => text.replaceAll(/[\s-]/g, ''));
  return [...typed, ...withoutSpaces].filter((text) => text !== '');
}
