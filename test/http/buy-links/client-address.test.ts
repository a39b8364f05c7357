import { expect, test } from 'bun:test';
import { clientAddress } from '../../../src/http/edge/client-address.ts';

// prettier-ignore
test.each([
  // peer                        X-Forwarded-For                 proxies  counted
  ['203.0.113.7',                null,                           0,       '203.0.113.7'],
  // No proxy vouches for it.
  ['203.0.113.7',                '198.51.100.1',                 0,       '203.0.113.7'],
  ['10.0.0.1',                   '198.51.100.1',                 1,       '198.51.100.1'],
  ['10.0.0.1',                   '6.6.6.6, 198.51.100.1',        1,       '198.51.100.1'],
  ['10.0.0.1',                   '6.6.6.6,198.51.100.1,10.0.0.2', 2,      '198.51.100.1'],
  // The request came past the proxies, or they are not configured.
  ['203.0.113.7',                null,                           1,       '203.0.113.7'],
  ['203.0.113.7',                '198.51.100.1',                 2,       '203.0.113.7'],
  ['203.0.113.7',                'unknown',                      1,       '203.0.113.7'],
  ['203.0.113.7',                '',                             1,       '203.0.113.7'],
  // A subscriber's network.
  ['2001:db8:1:2:3:4:5:6',       null,                           0,       '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6',            null,                           0,       '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::',             null,                           0,       '2001:db8:1:2::/64'],
  ['2001:0db8::1:2:3:4:5',       null,                           0,       '2001:db8:0:1::/64'],
  ['fe80::1%eth0',               null,                           0,       'fe80:0:0:0::/64'],
  ['::1',                        null,                           0,       '0:0:0:0::/64'],
  ['::ffff:203.0.113.7',         null,                           0,       '203.0.113.7'],
  ['10.0.0.1',                   '2001:db8:1:2::9',              1,       '2001:db8:1:2::/64'],
])('the client address of %s with X-Forwarded-For %p behind %i proxies is %s', (peer, forwardedFor, hops, counted) => {
  expect(clientAddress(peer, { forwardedFor, hops })).toBe(counted);
});
