// The members of an organisation, and who is invited.
//
// Holds: both modes have the same members, so a key of test mode reads them and changes none. An
// admin makes, changes and removes no owner. An organisation that has members keeps an owner,
// whatever is done at the same time. Who is removed sees nothing of it from the answer on: sessions
// are looked up on each use, and no invitation that was made before brings it back. No invitation,
// and no link to a customer's portal, outlives the right of the member or the key that made it.
import type { Clock, Ids } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { invitationLetter } from '../../mail/people.ts';
import { invitationAddress } from '../../people/addresses.ts';
import type { UserMailer } from '../../people/user-mailer.ts';
import { mayGovern, rolesBeyond } from '../../people/roles.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import type { Secrets } from '../../platform/crypto/secrets.ts';
import type { RateLimit, RateLimiter } from '../../platform/redis/rate-limit.ts';
import { holdKeys, isLive } from '../../records/api-keys.ts';
import {
  holdInvitation,
  type InvitationRecord,
  type Inviter,
  insertInvitation,
  listInvitations,
  revokeInvitation,
  revokeInvitationsBy,
  type Spared,
} from '../../records/invitations.ts';
import {
  changeRole,
  findMember,
  findMemberByEmail,
  holdMember,
  type LastOwner,
  listMembers,
  type MemberRecord,
  removeMember,
  type Role,
  roleToKeep,
} from '../../records/members.ts';
import { findOrganisation } from '../../records/organisations.ts';
import { revokePortalTokensBy } from '../../records/portal-tokens.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { isForBothModes, notForTestKeys } from '../edge/both-modes.ts';
import { refuse } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import { writeInTurn } from '../edge/write-turns.ts';
import { type Answer, answer, once, refusal } from '../idempotency/idempotency.ts';
import { answerList, PAGE } from '../list.ts';
import {
  fromInvitation,
  fromMember,
  Invitation,
  InvitationCreate,
  Member,
  MemberChange,
  NewInvitation,
} from '../wire/members.ts';
import { Body, ListOf } from '../wire/values.ts';
import { securityRoutes } from './security.ts';

export type MemberRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly newToken: () => string;
  readonly userMailer: UserMailer;
  readonly secrets: Secrets;
};

type Deps = MemberRoutesDeps & { readonly limit: RateLimit };

const tag = 'Members';
const BOTH_MODES = 'Members are the same in both modes: a test key is refused.';

const LIST = {
  operationId: 'listMembers',
  method: 'GET',
  path: '/members',
  client: 'members.list',
  summary: 'List members, newest first',
  description: 'The users who may sign in to the dashboard of the organization, with their roles.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body(PAGE),
  answers: { 200: ListOf(Member) },
} as const;

const READ = {
  operationId: 'getMember',
  method: 'GET',
  path: '/members/{id}',
  client: 'members.retrieve',
  summary: 'Get a member',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: { id: 'The id of the member.' },
  answers: { 200: Member },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  operationId: 'updateMember',
  method: 'PATCH',
  path: '/members/{id}',
  client: 'members.update',
  summary: 'Change the role of a member',
  description:
    "Applies from the member's next request on. Open invitations and portal links that the " +
    'member created end if the new role may not create them. The last owner keeps the ' +
    'role. ' +
    BOTH_MODES,
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'member', before: READ, isOfBothModes: true },
  params: { id: 'The id of the member.' },
  body: MemberChange,
  answers: { 200: Member },
  refusals: ['not_found', 'conflict'],
} as const;

const REMOVE = {
  operationId: 'removeMember',
  method: 'DELETE',
  path: '/members/{id}',
  client: 'members.remove',
  summary: 'Remove a member',
  description:
    "The member's sessions lose access at once. Open invitations and portal links that the " +
    "member created end, and so do invitations for the member's address. The last owner " +
    'cannot be removed. ' +
    BOTH_MODES,
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'member', before: READ, isOfBothModes: true },
  params: { id: 'The id of the member.' },
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

const INVITE = {
  operationId: 'createInvitation',
  method: 'POST',
  path: '/invitations',
  client: 'invitations.create',
  summary: 'Invite a member by e-mail',
  description:
    'Valid for 7 days, and no longer than the key or the member that invites. It replaces ' +
    'an open invitation of the address; an admin cannot replace one for an owner (403). ' +
    'The link is only in the mail; if no mail is sent, it is only in this answer. ' +
    BOTH_MODES,
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'invitation', isOfBothModes: true },
  body: InvitationCreate,
  idempotent: true,
  answers: { 201: NewInvitation },
  refusals: ['conflict', 'rate_limited'],
} as const;

const LIST_INVITED = {
  operationId: 'listInvitations',
  method: 'GET',
  path: '/invitations',
  client: 'invitations.list',
  summary: 'List invitations, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body(PAGE),
  answers: { 200: ListOf(Invitation) },
} as const;

const WITHDRAW = {
  operationId: 'revokeInvitation',
  method: 'DELETE',
  path: '/invitations/{id}',
  client: 'invitations.revoke',
  summary: 'Withdraw an invitation',
  description: 'Its link stops working at once. Repeating the call changes nothing. ' + BOTH_MODES,
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'invitation', isOfBothModes: true },
  params: { id: 'The id of the invitation.' },
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

export function memberRoutes(given: MemberRoutesDeps): Route[] {
  const limit = given.limiter.limit('invitation', given.settings.limits.invitations);
  const deps = { ...given, limit };
  return [
    readMembers(deps),
    readMember(deps),
    changeMember(deps),
    deleteMember(deps),
    invite(deps),
    readInvitations(deps),
    withdraw(deps),
    ...securityRoutes(deps),
  ];
}

function readMembers({ edge, lists }: Deps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'members',
        whose: ofBothModes(principal),
        rows: (sql, page) => listMembers(sql, principal.organisationId, page),
        show: fromMember,
      },
    ),
  );
}

function readMember({ edge, sql }: Deps): Route {
  return edge.organisation(READ, async ({ principal, params }) => {
    const member = await findMember(sql, principal.organisationId, params.id);
    return member === null ? noSuchMember() : Response.json(fromMember(member));
  });
}

function changeMember(deps: Deps): Route {
  return deps.edge.organisation(CHANGE, ({ principal, params, body: { role } }) =>
    onMember(deps, principal, params.id, async (sql, member) => {
      if (!mayGovern(principal.scope, role)) return notForAdmins();
      const { organisationId } = principal;
      if ((await changeRole(sql, organisationId, { member, role })) === LAST) return lastOwner();
      await endWhatItMade(deps, sql, { organisationId, member, role });
      return Response.json(fromMember({ ...member, role }));
    }),
  );
}

function deleteMember(deps: Deps): Route {
  return deps.edge.organisation(REMOVE, ({ principal, params }) =>
    onMember(deps, principal, params.id, async (sql, member) => {
      const { organisationId } = principal;
      const removed = { member, now: deps.clock.now() };
      if ((await removeMember(sql, organisationId, removed)) === LAST) return lastOwner();
      await endWhatItMade(deps, sql, { organisationId, member, role: null });
      return new Response(null, { status: 204 });
    }),
  );
}

/** Invitations and links to the portal that the member may not make as what it is from now on. */
async function endWhatItMade(
  { clock, edge }: Deps,
  sql: Transaction,
  of: {
    readonly organisationId: string;
    readonly member: MemberRecord;
    readonly role: Role | null;
  },
): Promise<void> {
  const { organisationId, member, role } = of;
  const [{ userId }, roles, now] = [member, rolesBeyond(role), clock.now()];
  await revokeInvitationsBy(sql, { userId, organisationId, roles, now });
  const mayOpenPortal = role !== null && edge.callers.may(role, 'createPortalToken');
  if (!mayOpenPortal) await revokePortalTokensBy(sql, { userId, organisationId, now });
}

/**
 * Runs `task` on a member whom the caller may decide about, and whom nobody else changes meanwhile.
 */
async function onMember(
  { sql }: Deps,
  principal: OrganisationPrincipal,
  id: string,
  task: (sql: Transaction, member: MemberRecord) => Promise<Response>,
): Promise<Response> {
  if (!isForBothModes(principal)) return notForTestKeys();
  const { organisationId, scope } = principal;
  return writeInTurn(organisationId, () =>
    sql.begin(async (transaction) => {
      const member = await holdMember(transaction, organisationId, id);
      if (member === null) return noSuchMember();
      return mayGovern(scope, member.role) ? task(transaction, member) : notForAdmins();
    }),
  );
}

function invite(deps: Deps): Route {
  const { edge, sql, clock, newToken, userMailer, secrets, settings } = deps;
  return edge.organisation(INVITE, async ({ principal, body, idempotencyKey: key }) => {
    if (!isForBothModes(principal)) return notForTestKeys();
    if (!mayGovern(principal.scope, body.role)) return notForAdmins();
    const now = clock.now();
    const attempt = { sql, principal, operation: INVITE, key, body, now, secrets };
    const token = newToken();
    let made: InvitationRecord | null = null;
    // Not stored, and sent with the headers that go with it.
    let refused: Response | null = null;
    const response = await once(attempt, async (transaction): Promise<Answer> => {
      const taken = await deps.limit.take(principal.organisationId);
      if (!taken.allowed) {
        refused = refuseRate(taken);
        return { ...refusal('rate_limited', 'too many'), isKept: false };
      }
      const invited = await insert(deps, transaction, { principal, body, token, now });
      if ('status' in invited) return invited;
      made = invited;
      const url = userMailer.isOpen ? null : invitationAddress(settings.appUrl, token);
      return answer(201, { ...fromInvitation(invited, now), mailed: userMailer.isOpen, url });
    });
    if (made !== null) mail(deps, principal, { invitation: made, token });
    return refused ?? response;
  });
}

async function insert(
  deps: Deps,
  sql: Transaction,
  options: {
    readonly principal: OrganisationPrincipal;
    readonly body: Pick<InvitationRecord, 'email' | 'role'>;
    readonly token: string;
    readonly now: number;
  },
): Promise<InvitationRecord | Answer> {
  const { principal, body, token, now } = options;
  const { organisationId } = principal;
  const may = await holdInviter(deps, sql, { principal, role: body.role });
  if ('status' in may) return may;
  if ((await findMemberByEmail(sql, organisationId, body.email)) !== null) {
    return refusal('conflict', 'this address is a member already');
  }
  const isMailed = deps.userMailer.isOpen;
  const wanted = { ...body, id: deps.ids.next(), organisationId, token, isMailed, ...may, now };
  const made = await insertInvitation(sql, deps.settings.bounds, wanted);
  if (made === SPARED) return { ...refusal('forbidden', NOT_FOR_ADMINS), isKept: false };
  return made instanceof Full ? refusal('conflict', made.message) : made;
}

type MayInvite = {
  readonly by: Inviter;
  /** The roles whose open invitations it may not end. */
  readonly spare: readonly Role[];
};

/**
 * Its right may be another than when the request began. It stays until the invitation is there to
 * end with it.
 */
async function holdInviter(
  { clock }: Deps,
  sql: Transaction,
  { principal, role }: { readonly principal: OrganisationPrincipal; readonly role: Role },
): Promise<MayInvite | Answer> {
  const { organisationId, actor } = principal;
  const { id } = actor;
  if (actor.kind === 'user') {
    const own = await roleToKeep(sql, organisationId, id);
    if (own !== null && mayGovern(own, role)) {
      return { by: { kind: 'user', id }, spare: rolesBeyond(own) };
    }
    return { ...refusal('forbidden', 'you may not invite as this role any more'), isKept: false };
  }
  const key = (await holdKeys(sql, principal, [id])).get(id);
  if (key === undefined || !isLive(key, clock.now())) return { ...ENDED, isKept: false };
  const by = { kind: 'key', id, expiresAt: key.expiresAt } as const;
  return { by, spare: rolesBeyond(principal.scope) };
}

function mail(
  { sql, userMailer, settings }: Deps,
  principal: OrganisationPrincipal,
  { invitation, token }: { readonly invitation: InvitationRecord; readonly token: string },
): void {
  const { id, email, role, invitedBy: inviter } = invitation;
  userMailer.later(async () => {
    const { name: organisation } = await findOrganisation(sql, { ...principal, mode: 'live' });
    const href = invitationAddress(settings.appUrl, token);
    return { id, to: email, ...invitationLetter({ organisation, role, inviter, href }) };
  });
}

function readInvitations({ edge, lists, clock }: Deps): Route {
  return edge.organisation(LIST_INVITED, ({ principal, query }) => {
    const now = clock.now();
    return answerList(
      lists,
      { principal, query },
      {
        name: 'invitations',
        whose: ofBothModes(principal),
        rows: (sql, page) => listInvitations(sql, principal.organisationId, page),
        show: (invitation) => fromInvitation(invitation, now),
      },
    );
  });
}

function withdraw({ edge, sql, clock }: Deps): Route {
  return edge.organisation(WITHDRAW, async ({ principal, params }) => {
    if (!isForBothModes(principal)) return notForTestKeys();
    const { organisationId, scope } = principal;
    return sql.begin(async (transaction) => {
      const invitation = await holdInvitation(transaction, organisationId, params.id);
      if (invitation === null) return refuse('not_found', 'no such invitation');
      if (!mayGovern(scope, invitation.role)) return notForAdmins();
      if (invitation.acceptedAt !== null) return refuse('conflict', 'the invitation was accepted');
      await revokeInvitation(transaction, { id: invitation.id, now: clock.now() });
      return new Response(null, { status: 204 });
    });
  });
}

const ENDED = refusal('unauthorized', 'the API key has been revoked or has expired');
const noSuchMember = () => refuse('not_found', 'no such member');

const LAST: LastOwner = 'last_owner';
const lastOwner = () =>
  refuse('conflict', 'an organization keeps an owner: make another one first');

const SPARED: Spared = 'spared';
const NOT_FOR_ADMINS = 'an admin decides about no owner';
const notForAdmins = () => refuse('forbidden', NOT_FOR_ADMINS);

const ofBothModes = ({ organisationId }: OrganisationPrincipal) => ({
  organisation_id: organisationId,
});
