// What an action on a subscription would bill and do: refused as the action is, and nothing is
// done.
import { tenantOf } from '../../../ledger/kernel/tenant.ts';
import type { PreviewedAction, Subscriptions } from '../../subscriptions/subscriptions.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { respond } from '../idempotency/idempotency.ts';
import { previewAnswer } from '../subscription-answers.ts';
import { SubscriptionPreview } from '../wire/subscription-previews.ts';
import {
  SubscriptionCancel,
  SubscriptionChange,
  toCancel,
  toChange,
} from '../wire/subscriptions.ts';

export type SubscriptionPreviewRoutesDeps = {
  readonly edge: Edge;
  readonly subscriptions: Pick<Subscriptions, 'preview'>;
};

const PREVIEW = {
  tag: 'Subscriptions',
  params: { id: 'The id of the subscription.' },
  idempotent: false,
  answers: { 200: SubscriptionPreview },
  refusals: ['not_found', 'invalid_state'],
} as const;

const CHANGE = {
  ...PREVIEW,
  operationId: 'previewSubscriptionChange',
  method: 'POST',
  path: '/subscriptions/{id}/change/preview',
  client: 'subscriptions.previewChange',
  summary: 'Preview a change of a subscription',
  description: [
    'What the change would bill and do now, by the same decision. Nothing is written or ' +
      'charged. It is refused as the change would be, except for a declined payment.',
    'The lines are those of its invoice; a cheaper plan has none if no usage is owed, and ' +
      '`credited` comes off the next invoices. `subscription` is its state after the change; if ' +
      '`waits_for_payment` is true, after that payment. Time passes and usage is added until the ' +
      'change is made, so ask again when it matters.',
  ].join('\n\n'),
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: 'nothing',
  body: SubscriptionChange,
} as const;

const CANCEL = {
  ...PREVIEW,
  operationId: 'previewSubscriptionCancel',
  method: 'POST',
  path: '/subscriptions/{id}/cancel/preview',
  client: 'subscriptions.previewCancel',
  summary: 'Preview the cancellation of a subscription',
  description:
    'What the cancellation would bill and do now, as the preview of a change. `immediate` bills ' +
    'the unbilled usage. At the end of the period nothing is billed now: `/upcoming-invoice` ' +
    'shows what is billed then.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: 'nothing',
  body: SubscriptionCancel,
  bodyOptional: true,
  refusals: ['not_found'],
} as const;

const RESUME = {
  ...PREVIEW,
  operationId: 'previewSubscriptionResume',
  method: 'POST',
  path: '/subscriptions/{id}/resume/preview',
  client: 'subscriptions.previewResume',
  summary: 'Preview the resume of a subscription',
  description:
    'Whether it continues in the paid period or begins a new one with a payment, as the preview ' +
    'of a change.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: 'nothing',
} as const;

const END_TRIAL = {
  ...PREVIEW,
  operationId: 'previewTrialEnd',
  method: 'POST',
  path: '/subscriptions/{id}/end-trial/preview',
  client: 'subscriptions.previewEndTrial',
  summary: 'Preview the end of a trial',
  description: 'What the first paid period would bill if it began now, as the preview of a change.',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: 'nothing',
} as const;

export function subscriptionPreviewRoutes({
  edge,
  subscriptions,
}: SubscriptionPreviewRoutesDeps): Route[] {
  const answer = async ({ principal, params: { id } }: Asked, act: PreviewedAction) =>
    respond(
      previewAnswer(await subscriptions.preview({ scope: tenantOf(principal), id }, act), act.kind),
    );
  return [
    edge.organisation(CHANGE, (call) => answer(call, toChange(call.body))),
    edge.organisation(CANCEL, (call) => answer(call, toCancel(call.body))),
    edge.organisation(RESUME, (call) => answer(call, { kind: 'resume' })),
    edge.organisation(END_TRIAL, (call) => answer(call, { kind: 'end_trial' })),
  ];
}

type Asked = {
  readonly principal: OrganisationPrincipal;
  readonly params: { readonly id: string };
};
