import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { TestClocks } from '../../test-clock/test-clocks.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { fromTestClock, TestClock, TestClockMove, toTarget } from '../wire/test-clock.ts';

export type TestClockRoutesDeps = {
  readonly edge: Edge;
  readonly testClocks: TestClocks;
  /** Lifts the server's time limit for this request. */
  readonly patient: (request: Request) => void;
};

const tag = 'Test clock';

const READ = {
  operationId: 'getTestClock',
  method: 'GET',
  path: '/test-clock',
  client: 'testClock.retrieve',
  summary: 'Get the test clock',
  description:
    "The organization's time in test mode: the real time until the clock is moved. 404 with a " +
    'live key.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  answers: { 200: TestClock },
  refusals: ['not_found'],
} as const;

const MOVE = {
  operationId: 'moveTestClock',
  method: 'POST',
  path: '/test-clock',
  client: 'testClock.advance',
  summary: 'Move the test clock',
  description:
    'By a duration or to a time, forward only, at most five years in one call, up to the year ' +
    '3000. Everything that is due by then is done before the call answers, in due order and each ' +
    'at its own time: periods end, subscriptions renew, payments settle, discounts and checkouts ' +
    'expire. Then the clock runs on. One call at a time: 409 while another one moves it. Keys, ' +
    'rate limits and deliveries use the real time. If you stop waiting for the answer, the clock ' +
    'is still moving: read it, and send the wanted time again. 404 with a live key.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'test_clock', before: READ },
  body: TestClockMove,
  answers: { 200: TestClock },
  refusals: ['not_found', 'invalid_state'],
} as const;

const BEYOND = {
  too_far: 'is more than five years ahead',
  past_end: 'is not before the year 3000',
} as const;

const notFound = () => refuse('not_found', 'live mode has no test clock');

export function testClockRoutes(deps: TestClockRoutesDeps): Route[] {
  return [read(deps), move(deps)];
}

function read({ edge, testClocks }: TestClockRoutesDeps): Route {
  return edge.organisation(READ, ({ principal }) =>
    principal.mode === 'live' ? notFound() : show(testClocks, principal),
  );
}

function move({ edge, testClocks, patient }: TestClockRoutesDeps): Route {
  return edge.organisation(MOVE, async ({ principal, body, request }) => {
    if (principal.mode === 'live') return notFound();
    const target = toTarget(body);
    if (typeof target !== 'function') return refuseInvalid([target]);
    patient(request);
    const moved = await testClocks.move(principal.organisationId, target, request.signal);
    switch (moved) {
      case 'moved':
        return show(testClocks, principal);
      case 'back':
        return refuse('invalid_state', 'the clock is past that already: it only goes forward');
      case 'moving':
        return refuse('invalid_state', 'the clock is being moved: wait until it is ready');
      case 'too_far':
      case 'past_end': {
        const path = [body.now === undefined ? 'advance' : 'now'];
        return refuseInvalid([{ path, message: BEYOND[moved] }]);
      }
      default:
        return unreachable(moved);
    }
  });
}

function show(testClocks: TestClocks, { organisationId }: OrganisationPrincipal): Response {
  const now = testClocks.now(organisationId);
  return Response.json(fromTestClock(now, testClocks.isMoving(organisationId)));
}
