// What a command does to the second model of a subscription, and which it refuses.
import { unreachable } from '../../ledger/kernel/assert.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { Answer, Bill } from './subscription-bill.ts';
import type { SubscriptionModel } from './subscription-model.ts';

export function perform(
  model: SubscriptionModel,
  command: Command,
  { bill, isNamed }: { readonly bill: Bill | undefined; readonly isNamed: boolean },
): void {
  switch (command.kind) {
    case 'cancel':
      return model.cancel(command.mode);
    case 'uncancel':
      return model.uncancel();
    case 'pause':
      return model.pause(command.resumesAt, command.keepInvoices);
    case 'resume':
      return model.resumeAt(model.now);
    case 'change':
      return model.change(command.plan, command.givenBack[0]?.amount ?? 0n);
    case 'unschedule':
      return model.takeBack();
    case 'pending':
      return bill && model.wait(bill);
    case 'end_trial':
      return model.endTrial();
    case 'settle': {
      const { settlement } = command;
      const { at } = settlement;
      const how = 'code' in settlement ? (settlement.code as Answer['how']) : settlement.kind;
      return bill && model.answer(bill, { how, at });
    }
    case 'close_invoice':
      return bill && model.close(bill, command.how, { isNamed });
    case 'method_changed':
      for (const open of model.open) {
        if (open.isForgone === true) continue;
        if (model.isReplaced(open)) open.retryAt = model.now;
        else if (open.isUnderWay) open.again = true;
        else model.try(open, model.now);
      }
      return undefined;
    case 'tick':
    case 'usage_given_back':
      return undefined;
    default:
      return unreachable(command);
  }
}

export function refusal(model: SubscriptionModel, { kind }: Command): string | null {
  const { endedAt, waiting, isPaused, isTrial, cancelAt, open } = model;
  const actions = ['cancel', 'uncancel', 'pause', 'resume', 'change', 'unschedule', 'end_trial'];
  if (endedAt !== null) return actions.includes(kind) ? 'unknown' : null;
  const isRefused =
    (kind === 'unschedule' && waiting === null) ||
    (kind === 'pause' && waiting !== null) ||
    (kind === 'change' &&
      (isPaused || waiting !== null || open.some(({ isForgone }) => isForgone !== true))) ||
    (kind === 'end_trial' && (isPaused || !isTrial || cancelAt !== null));
  return isRefused ? 'invalid_state' : null;
}
