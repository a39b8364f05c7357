// A member, an invitation, and what is asked of members.
import type { Static, TSchema } from '@sinclair/typebox';
import { Invitation, Member, NewInvitation } from '../wire/members.ts';
import { Security } from '../wire/security.ts';

const AT = '2026-11-21T12:00:00.000Z';

const MEMBER = {
  id: '01976c2e-5f00-7a10-8000-000000000041',
  user_id: '01976c2e-5f00-7a10-8000-000000000032',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'owner',
  second_factor: true,
  created_at: AT,
} satisfies Static<typeof Member>;

const INVITATION = {
  id: '01976c2e-5f00-7a10-8000-000000000042',
  email: 'grace@example.com',
  role: 'support',
  status: 'open',
  invited_by: 'ada@example.com',
  created_at: AT,
  expires_at: '2026-11-28T12:00:00.000Z',
} satisfies Static<typeof Invitation>;

const SECURITY = {
  require_second_factor: false,
  refund_step_up_amount: '100.00',
} satisfies Static<typeof Security>;

/** By schema. */
export const PEOPLE: readonly [TSchema, unknown][] = [
  [Member, MEMBER],
  [Invitation, INVITATION],
  [
    NewInvitation,
    { ...INVITATION, mailed: true, url: null } satisfies Static<typeof NewInvitation>,
  ],
  [Security, SECURITY],
];
