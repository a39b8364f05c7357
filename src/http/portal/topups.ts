// A customer switches an automatic top-up in the portal.
import type { Ledger } from '../../../ledger/ledger.ts';
import type { Settings } from '../../config.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { isForm } from '../edge/body.ts';
import { refuse } from '../edge/errors.ts';
import { fromTopUp } from '../wire/auto-topups.ts';
import { backTo, nothingHere, type PortalCall } from './actions.ts';
import { frameOf } from './view.ts';

type SwitchDeps = {
  readonly sql: Sql;
  readonly ledger: Ledger;
  readonly settings: Settings;
};

/** A program gets the top-up, a page is led back to itself. */
export async function switchTopUp(
  { sql, ledger, settings }: SwitchDeps,
  call: PortalCall & { readonly params: { readonly feature_key: string } },
  enabled: boolean,
): Promise<Response> {
  const { principal, params, request } = call;
  const { customerId } = principal;
  const all = await ledger.topUps.of(customerId);
  const meter = all.find((one) => one.meter.slug === params.feature_key)?.meter;
  const switched =
    meter === undefined
      ? null
      : await ledger.topUps.change(customerId, meter.id, { kind: 'switch', enabled });
  const isMissing = meter === undefined || switched === null || switched.settings === null;
  if (isForm(request)) {
    if (isMissing) return nothingHere();
    const frame = await frameOf(sql, principal, { appUrl: settings.appUrl, token: params.token });
    return backTo(frame, enabled ? 'topup_on' : 'topup_off');
  }
  const customer = isMissing ? null : await ledger.find(principal, { id: customerId });
  if (isMissing || customer === null) return refuse('not_found', 'no such automatic top-up');
  const topUp = { ...switched, settings: switched.settings };
  return Response.json(fromTopUp({ meter, topUp }, customer.customer));
}
