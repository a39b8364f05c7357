import { advance } from './advance.ts';
import { fireAlerts } from './alerts.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import type { MeterState } from './meter.ts';

/**
 * Fires what the customer is past already. null where nothing changes. `before`: the state before the
 * usage that reached it; null where the alert came after that.
 */
export function decideLook(
  context: MeterContext,
  state: MeterState,
  before: MeterState | null = null,
): MeterEffects | null {
  const draft = new MeterDraft(context, state);
  advance(draft);
  fireAlerts(draft, before ?? draft.state);
  return draft.state === state ? null : draft.effects();
}
