// Who is signed in: by the cookie, and by nothing else of a request.
import { expect, test } from 'bun:test';
import { openDoor } from '../../../src/dashboard/serve/door.ts';
import { newToken } from '../../../src/platform/crypto/tokens.ts';

const ADDRESS = '192.0.2.7';
const TOKEN = newToken();
const SESSION = {
  sessionId: '01890000-0000-7000-8000-000000000001',
  user: { id: '01890000-0000-7000-8000-000000000002', email: 'ada@example.com', name: 'Ada' },
  memberships: [],
  isProven: true,
  hasSecondFactor: false,
  signedInAt: 0,
  secondFactorAt: null,
};

/** Any token opens the session; `asked` has what was looked up. */
function open() {
  const asked: (string | boolean)[][] = [];
  const door = openDoor({
    async findSession({ token, address, isUse }) {
      asked.push([token, address, isUse]);
      return SESSION;
    },
  });
  const withCookie = (cookie: string) =>
    door.whoIs(new Request('http://localhost/dashboard', { headers: { cookie } }), ADDRESS);
  return { asked, door, withCookie };
}

test("a session's cookie says who is signed in, among other cookies", async () => {
  const { asked, withCookie } = open();
  for (const cookie of [
    `__Host-tollhouse=${TOKEN}`,
    `a=b; __Host-tollhouse=${TOKEN}`,
    `a=b;__Host-tollhouse=${TOKEN}; c=d`,
  ]) {
    expect(await withCookie(cookie)).toMatchObject(SESSION);
  }
  expect(asked).toEqual(Array.from({ length: 3 }, () => [TOKEN, ADDRESS, true]));
});

test('requests that a page makes by itself do not prolong the session', async () => {
  const { asked, door } = open();
  const headers = { cookie: `__Host-tollhouse=${TOKEN}`, 'x-live': '1' };
  await door.whoIs(new Request('http://localhost/dashboard', { headers }), ADDRESS);
  expect(asked).toEqual([[TOKEN, ADDRESS, false]]);
});

test('a malformed session cookie is not looked up', async () => {
  const { asked, door, withCookie } = open();
  for (const cookie of [
    '',
    '__Host-tollhouse=',
    `tollhouse=${TOKEN}`,
    `x__Host-tollhouse=${TOKEN}`,
    `a=__Host-tollhouse=${TOKEN}`,
    `__Host-tollhouse=${TOKEN}x`,
    `__Host-tollhouse=${TOKEN.slice(1)}`,
    `__Host-tollhouse=${"'".repeat(43)}`,
  ]) {
    expect(await withCookie(cookie)).toBeNull();
  }
  expect(await door.whoIs(new Request('http://localhost/dashboard'), ADDRESS)).toBeNull();
  expect(asked).toEqual([]);
});

test("a session's form token is its own, stays the same and is not the cookie", async () => {
  const { withCookie } = open();
  const first = await withCookie(`__Host-tollhouse=${TOKEN}`);
  const again = await withCookie(`__Host-tollhouse=${TOKEN}`);
  const other = await withCookie(`__Host-tollhouse=${newToken()}`);
  expect(first?.formToken).toMatch(/^[\w-]{43}$/);
  expect(again?.formToken).toBe(first?.formToken);
  expect(other?.formToken).not.toBe(first?.formToken);
  expect(first?.formToken).not.toContain(TOKEN);
});
