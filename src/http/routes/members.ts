// The members of an organisation, and who is invited.
//
// Holds: both modes have the same members, so a key of test mode reads them and changes none. An
// admin makes, changes and removes no owner. An organisation that has members keeps an owner,
// whatever is done at the same time. Who is removed sees nothing of it from the answer on: sessions
// are looked up on each use.
import { Elysia } from 'elysia';
import type { Clock, Ids } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { invitationLetter } from '../../mail/people.ts';
import { invitationAddress } from '../../people/addresses.ts';
import type { Post } from '../../people/post.ts';
import { mayGovern } from '../../people/roles.ts';
import { Full } from '../../platform/bounds.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import type { RateLimit, RateLimiter } from '../../platform/redis/rate-limit.ts';
import {
  holdInvitation,
  type InvitationRecord,
  insertInvitation,
  listInvitations,
  revokeInvitation,
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
} from '../../records/members.ts';
import { findOrganisation } from '../../records/organisations.ts';
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
  readonly post: Post;
};

type Deps = MemberRoutesDeps & { readonly limit: RateLimit };

const tag = 'Members';
const BOTH_MODES = 'Both modes have the same members: a key of test mode is refused.';

const LIST = {
  operationId: 'listMembers',
  summary: 'List members, newest first',
  description: 'Who may sign in to the dashboard of the organization, and as what.',
  tag,
  query: Body(PAGE),
  answers: { 200: ListOf(Member) },
} as const;

const READ = {
  operationId: 'getMember',
  summary: 'Get a member',
  tag,
  params: { id: 'The id of the member.' },
  answers: { 200: Member },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  operationId: 'updateMember',
  summary: 'Change the role of a member',
  description: `It holds from the member's next request on. The last owner stays one. ${BOTH_MODES}`,
  tag,
  params: { id: 'The id of the member.' },
  body: MemberChange,
  answers: { 200: Member },
  refusals: ['not_found', 'conflict'],
} as const;

const REMOVE = {
  operationId: 'removeMember',
  summary: 'Remove a member',
  description: `Its sessions see nothing of the organization from now on. The last owner stays. ${BOTH_MODES}`,
  tag,
  params: { id: 'The id of the member.' },
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

const INVITE = {
  operationId: 'createInvitation',
  summary: 'Invite somebody by e-mail',
  description: `For 7 days; it takes the place of one that the address has. The link is in the mail alone. ${BOTH_MODES}`,
  tag,
  body: InvitationCreate,
  idempotent: true,
  answers: { 201: NewInvitation },
  refusals: ['conflict', 'rate_limited'],
} as const;

const LIST_INVITED = {
  operationId: 'listInvitations',
  summary: 'List invitations, newest first',
  tag,
  query: Body(PAGE),
  answers: { 200: ListOf(Invitation) },
} as const;

const WITHDRAW = {
  operationId: 'revokeInvitation',
  summary: 'Withdraw an invitation',
  description: `Its link opens nothing from now on. Again is the same. ${BOTH_MODES}`,
  tag,
  params: { id: 'The id of the invitation.' },
  answers: { 204: null },
  refusals: ['not_found', 'conflict'],
} as const;

export function memberRoutes(given: MemberRoutesDeps) {
  const limit = given.limiter.limit('invitation', given.settings.limits.invitations);
  const deps = { ...given, limit };
  return new Elysia()
    .get('/members', ...readMembers(deps))
    .get('/members/:id', ...readMember(deps))
    .patch('/members/:id', ...changeMember(deps))
    .delete('/members/:id', ...deleteMember(deps))
    .post('/invitations', ...invite(deps))
    .get('/invitations', ...readInvitations(deps))
    .delete('/invitations/:id', ...withdraw(deps))
    .use(securityRoutes(deps));
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
      return Response.json(fromMember({ ...member, role }));
    }),
  );
}

function deleteMember(deps: Deps): Route {
  return deps.edge.organisation(REMOVE, ({ principal, params }) =>
    onMember(deps, principal, params.id, async (sql, member) => {
      if ((await removeMember(sql, principal.organisationId, member)) === LAST) return lastOwner();
      return new Response(null, { status: 204 });
    }),
  );
}

/** Runs `task` on a member whom the caller may decide about, and whom nobody else changes meanwhile. */
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
  const { edge, sql, clock, newToken, post } = deps;
  return edge.organisation(INVITE, async ({ principal, body, idempotencyKey: key }) => {
    if (!isForBothModes(principal)) return notForTestKeys();
    if (!mayGovern(principal.scope, body.role)) return notForAdmins();
    const now = clock.now();
    const attempt = { sql, principal, operation: 'POST /invitations', key, body, now };
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
      return answer(201, { ...fromInvitation(invited, now), mailed: post.isOpen });
    });
    if (made !== null) mail(deps, principal, { invitation: made, token });
    return refused ?? response;
  });
}

async function insert(
  { ids, settings: { bounds } }: Deps,
  sql: Transaction,
  options: {
    readonly principal: OrganisationPrincipal;
    readonly body: Pick<InvitationRecord, 'email' | 'role'>;
    readonly token: string;
    readonly now: number;
  },
): Promise<InvitationRecord | Answer> {
  const { principal, body, token, now } = options;
  const { organisationId, actor } = principal;
  if ((await findMemberByEmail(sql, organisationId, body.email)) !== null) {
    return refusal('conflict', 'this address is a member already');
  }
  const invitedBy = actor.kind === 'user' ? actor.id : null;
  const wanted = { ...body, id: ids.next(), organisationId, token, invitedBy, now };
  const made = await insertInvitation(sql, bounds, wanted);
  return made instanceof Full ? refusal('conflict', made.message) : made;
}

function mail(
  { sql, post, settings }: Deps,
  principal: OrganisationPrincipal,
  { invitation, token }: { readonly invitation: InvitationRecord; readonly token: string },
): void {
  const { id, email, role, invitedBy: inviter } = invitation;
  post.later(async () => {
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
      if (invitation.acceptedAt !== null) return refuse('conflict', 'it is accepted');
      await revokeInvitation(transaction, { id: invitation.id, now: clock.now() });
      return new Response(null, { status: 204 });
    });
  });
}

const noSuchMember = () => refuse('not_found', 'no such member');

const LAST: LastOwner = 'last_owner';
const lastOwner = () =>
  refuse('conflict', 'an organization keeps an owner: make another one first');
const notForAdmins = () => refuse('forbidden', 'an admin decides about no owner');

const ofBothModes = ({ organisationId }: OrganisationPrincipal) => ({
  organisation_id: organisationId,
});
