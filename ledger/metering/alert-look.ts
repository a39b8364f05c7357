import { advance } from './advance.ts';
import { fireAlerts } from './alerts.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import type { MeterState } from './meter.ts';

/** Fires what the customer is past already. null where nothing changes. */
export function decideLook(context: MeterContext, state: MeterState): MeterEffects | null {
  const draft = new MeterDraft(context, state);
  advance(draft);
  fireAlerts(draft, draft.state);
  return draft.state === state ? null : draft.effects();
}
