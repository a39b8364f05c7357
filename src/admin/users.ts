// Users of the dashboard.
import type { Config } from '../config.ts';
import { signInAddress } from '../people/addresses.ts';
import { proveAddress } from '../people/proof.ts';
import { rolesBeyond } from '../people/roles.ts';
import { Full } from '../platform/bounds.ts';
import { clock } from '../platform/clock.ts';
import { newToken } from '../platform/crypto/tokens.ts';
import { ids } from '../platform/ids.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { revokeInvitationsBy } from '../records/invitations.ts';
import { revokeInvitationsFor } from '../records/invitations-for.ts';
import {
  addMember,
  findMemberByEmail,
  holdMember,
  listAllMembers,
  readmitUser,
  removeMember,
  type Role,
  ROLES,
} from '../records/members.ts';
import { organisationExists } from '../records/organisations.ts';
import { revokePortalTokensBy } from '../records/portal-tokens.ts';
import { dropSecondFactor } from '../records/second-factors.ts';
import { revokeSessions } from '../records/sessions.ts';
import { insertSignInLink, LINK_MS } from '../records/sign-in-links.ts';
import {
  disableUser,
  ensureUser,
  findUserByEmail,
  nameIn,
  type UserRecord,
} from '../records/users.ts';
import { isEmail } from '../http/wire/values.ts';
import {
  appUrlOf,
  type Command,
  CommandRefused,
  idOf,
  isoOf,
  type Options,
  type Run,
  textOf,
  UsageError,
} from './command.ts';

export const USERS: Readonly<Record<string, Command>> = {
  'user create': {
    usage: '--org ID --email EMAIL [--role read_only|support|admin|owner] [--name NAME]',
    options: ['org', 'email', 'role', 'name'],
    plan: planCreation,
  },
  'user list': { usage: '--org ID', options: ['org'], onlyReads: () => true, plan: planList },
  'user remove': {
    usage: '--email EMAIL [--org ID]',
    options: ['email', 'org'],
    plan: planRemoval,
  },
  'user sign-in': { usage: '--email EMAIL', options: ['email'], plan: planSignIn },
  'user sign-out': { usage: '--email EMAIL', options: ['email'], plan: planSignOut },
  'user reset-second-factor': { usage: '--email EMAIL', options: ['email'], plan: planReset },
};

/** More is given by name alone. */
const LEAST_ROLE: Role = 'read_only';

/** Links of an operator, for a user, at a time. */
const LINKS_MAX = 100;

/**
 * The user and the member where they are missing, and a link that signs in. What the address was
 * invited for ends: it would be a way back for a member who is removed. The operator answers for
 * the address: who is signed in as a user of it that nothing has proven yet does not become the
 * member. Who was disabled comes back to this organisation alone, in this role.
 */
function planCreation({ org, email, role = LEAST_ROLE, name }: Options): Run {
  const organisationId = idOf('--org', org);
  const asked = { email: emailOf(email), role: roleOf(role) };
  const named = name === undefined ? nameIn(asked.email) : textOf('--name', name);
  return async (sql, config) => {
    const { bounds } = config;
    const now = clock.now();
    const { member, ...more } = await sql.begin(async (transaction) => {
      if (!(await organisationExists(transaction, organisationId))) {
        throw new CommandRefused(`there is no organisation ${organisationId}`);
      }
      await revokeInvitationsFor(transaction, { organisationId, email: asked.email, now });
      const wanted = { id: ids.next(), email: asked.email, name: named, isProven: true, now };
      const user = await ensureUser(transaction, wanted);
      const proof = await proveAddress(transaction, { userId: user.id, now });
      const left = user.disabledAt === null ? null : await readmitUser(transaction, user.id);
      const added = { id: ids.next(), organisationId, userId: user.id, role: asked.role, now };
      const made = await addMember(transaction, bounds, added);
      if (made instanceof Full) throw new CommandRefused(made.message);
      return {
        member: await findMemberByEmail(transaction, organisationId, asked.email),
        ...proof,
        ...(left !== null && { memberships_ended: left }),
        ...(await newLink(transaction, config, user)),
      };
    });
    return {
      value: { user_id: member?.userId, email: member?.email, role: member?.role, ...more },
    };
  };
}

/**
 * For a user who gets no mail. A second factor is asked for, once the address is proven: the link
 * proves it.
 */
function planSignIn({ email }: Options): Run {
  return ofUser(emailOf(email), (sql, user, config) => {
    if (user.disabledAt === null) return newLink(sql, config, user);
    throw new CommandRefused(`${user.email} may not sign in any more: user create changes that`);
  });
}

/** Signs the user in, once. */
async function newLink(
  sql: Transaction,
  config: Config,
  { id: userId, email }: UserRecord,
): Promise<{ readonly sign_in_url: string; readonly expires_at: string | null }> {
  const [now, token] = [clock.now(), newToken()];
  const link = { id: ids.next(), token, userId, openMax: LINKS_MAX, now };
  if (!(await insertSignInLink(sql, link))) {
    throw new CommandRefused(`${email} has ${LINKS_MAX} links that are open`);
  }
  const address = signInAddress(await appUrlOf(sql, config), token);
  return { sign_in_url: address, expires_at: isoOf(now + LINK_MS) };
}

function planList({ org }: Options): Run {
  const organisationId = idOf('--org', org);
  return async (sql) => {
    const members = await listAllMembers(sql, organisationId);
    return {
      value: members.map(({ userId, email, name, role, hasSecondFactor, createdAt }) => ({
        user_id: userId,
        email,
        name,
        role,
        second_factor: hasSecondFactor,
        created_at: createdAt.toISOString(),
      })),
    };
  };
}

/** From an organisation; from all there is without one: then the user signs in no more. */
function planRemoval({ email, org }: Options): Run {
  const address = emailOf(email);
  if (org === undefined) {
    return ofUser(address, async (sql, { id }) => {
      await disableUser(sql, { id, at: new Date(clock.now()) });
      const ended = await revokeSessions(sql, { userId: id, now: clock.now() });
      return { disabled: true, sessions_ended: ended, ...(await endWhatItMade(sql, id)) };
    });
  }
  const organisationId = idOf('--org', org);
  return ofUser(address, async (sql, { email: known }) => {
    const found = await findMemberByEmail(sql, organisationId, known);
    const member = found === null ? null : await holdMember(sql, organisationId, found.id);
    if (member === null) throw new CommandRefused(`${known} is no member of ${organisationId}`);
    const now = clock.now();
    if ((await removeMember(sql, organisationId, { member, now })) === 'last_owner') {
      throw new CommandRefused(`${known} is the last owner: make another one first`);
    }
    return { removed: true, ...(await endWhatItMade(sql, member.userId, { organisationId })) };
  });
}

/** Open invitations and links to the portal: nobody answers for them any more. */
async function endWhatItMade(
  sql: Transaction,
  userId: string,
  where: { readonly organisationId?: string } = {},
): Promise<{ readonly invitations_ended: number; readonly portal_tokens_ended: number }> {
  const of = { userId, ...where, now: clock.now() };
  return {
    invitations_ended: await revokeInvitationsBy(sql, { ...of, roles: rolesBeyond(null) }),
    portal_tokens_ended: await revokePortalTokensBy(sql, of),
  };
}

function planSignOut({ email }: Options): Run {
  return ofUser(emailOf(email), async (sql, { id }) => ({
    sessions_ended: await revokeSessions(sql, { userId: id, now: clock.now() }),
  }));
}

/** For a user who has lost the app and the recovery codes. */
function planReset({ email }: Options): Run {
  return ofUser(emailOf(email), async (sql, { id, hasSecondFactor }) => {
    await dropSecondFactor(sql, id);
    const ended = await revokeSessions(sql, { userId: id, now: clock.now() });
    return { had_second_factor: hasSecondFactor, sessions_ended: ended };
  });
}

function ofUser(
  email: string,
  task: (sql: Transaction, user: UserRecord, config: Config) => Promise<object>,
): Run {
  return (sql, config) =>
    sql.begin(async (transaction) => {
      const user = await findUserByEmail(transaction, email);
      if (user === null) throw new CommandRefused(`there is no user ${email}`);
      const done = await task(transaction, user, config);
      return { value: { user_id: user.id, email: user.email, ...done } };
    });
}

function emailOf(value = ''): string {
  if (isEmail(value)) return value;
  throw new UsageError('--email must be an e-mail address');
}

function roleOf(value: string): Role {
  const role = ROLES.find((known) => known === value);
  if (role !== undefined) return role;
  throw new UsageError(`--role must be one of ${ROLES.join(', ')}`);
}
