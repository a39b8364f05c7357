// Webhooks of processors, as they come in: whose it is, whether it is signed, what it hints at.
//
// Holds: whoever has no secret learns nothing: an organisation that is not there, one that has
// connected nothing and a wrong signature are the same. The account that signed is taken from the
// secret, so also one that was ended or replaced may still tell of what it took.
import type { Mode, Tenant } from '../../ledger/kernel/tenant.ts';
import type { Clock, Log } from '../../ledger/ports.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import type { NewHint } from '../records/processor-hints.ts';
import { type ProcessorAccount, processorNameOf } from '../records/processor-accounts.ts';
import { isUuid } from '../records/uuid.ts';
import { type Hint, readWebhook } from './stripe/webhook.ts';

export type IncomingWebhook = {
  /** As they stand in the address. */
  readonly organisationId: string;
  readonly mode: string;
  /** As it was sent. */
  readonly body: string;
  readonly signature: string | null;
};

export type ProcessorWebhooks = {
  /** Whether it is signed. It is stored then, where it is news. */
  take(webhook: IncomingWebhook): Promise<boolean>;
};

export type IncomingDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Pick<Secrets, 'open'>;
  /** The accounts of an organisation in all modes, ended ones too. */
  readonly list: (organisationId: string) => Promise<readonly ProcessorAccount[]>;
  readonly hint: (tenant: Tenant, hint: NewHint) => Promise<void>;
  /** Our key of the charge with this intent of an account; null where it is none of ours. */
  readonly keyOf: (of: {
    readonly account: string;
    readonly intent: string;
  }) => Promise<string | null>;
  /** A secret that nobody has: what is checked where there is no account. */
  readonly decoy: string;
};

/** Of an organisation in one mode, the latest: each costs a signature for every stranger's call. */
const ACCOUNTS_MAX = 5;

type Signer = { readonly secret: string; readonly name: string };

export function openIncoming(deps: IncomingDeps): ProcessorWebhooks {
  const { clock, decoy, hint } = deps;
  return {
    async take({ organisationId, mode, body, signature }) {
      const signers = isMode(mode) ? await signersOf(deps, { organisationId, mode }) : [];
      const secrets = signers.length === 0 ? [decoy] : signers.map(({ secret }) => secret);
      const read = await readWebhook({ body, signature }, { secrets, now: clock.now() });
      if (read.kind === 'unsigned' || !isMode(mode)) return false;
      const signer = signers.find(({ secret }) => secret === read.secret);
      if (signer === undefined) return false;
      const tenant = { organisationId, mode };
      const news = read.hint === null ? null : await newsOf(deps, read.hint, signer.name);
      if (news !== null) await hint(tenant, news);
      return true;
    },
  };
}

/** null where it is of what the merchant's own programs did there. */
async function newsOf(
  { keyOf }: IncomingDeps,
  hint: Hint,
  processor: string,
): Promise<NewHint | null> {
  if (hint.about !== 'dispute') return { ...hint, processor };
  const { eventId, about, intent } = hint;
  const subject = await keyOf({ account: processor, intent });
  return subject === null ? null : { eventId, about, subject, processor };
}

const isMode = (text: string): text is Mode => text === 'test' || text === 'live';

/** The current account first. */
async function signersOf(deps: IncomingDeps, tenant: Tenant): Promise<Signer[]> {
  const { organisationId, mode } = tenant;
  const accounts = isUuid(organisationId) ? await deps.list(organisationId) : [];
  return accounts
    .filter((account) => account.mode === mode && account.sealedWebhookSecret !== null)
    .toSorted((one, other) => endOf(other) - endOf(one))
    .slice(0, ACCOUNTS_MAX)
    .flatMap((account) => signerOf(deps, account));
}

const endOf = ({ endedAt }: ProcessorAccount): number => endedAt?.getTime() ?? Infinity;

function signerOf({ secrets, log }: IncomingDeps, account: ProcessorAccount): Signer[] {
  const { id, organisationId, mode, sealedWebhookSecret: sealed } = account;
  if (sealed === null) return [];
  try {
    return [{ secret: secrets.open(sealed, id), name: processorNameOf(account) }];
  } catch (error) {
    log.error({ err: error, organisationId, mode }, 'a webhook secret cannot be decrypted');
    return [];
  }
}
