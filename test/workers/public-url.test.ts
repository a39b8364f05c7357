import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isPublicAddress } from '../../src/platform/net/public-address.ts';
import { type Resolve, vetUrl } from '../../src/platform/net/public-url.ts';

const PUBLIC = '93.184.215.14';
const PUBLIC_6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';
const HTTPS = 'must be an https URL';
const HOST = 'must be the address of a public host';
const PORT = 'must have port 443, or one from 1024 on';
const USER = 'must not hold a user or a password';
const SPACES = 'must not hold spaces or backslashes';

/** A name server that gives every name a public address: every refusal is due to the URL itself. */
const anywhere: Resolve = async () => [PUBLIC, PUBLIC_6];

// prettier-ignore
const HOSTILE: [url: string, issue: string][] = [
  // not https
  [ 'http://example.com/hook',               HTTPS ],
  [ 'HTTP://example.com/hook',               HTTPS ],
  [ 'ftp://example.com/hook',                HTTPS ],
  [ 'file:///etc/passwd',                    HTTPS ],
  [ 'gopher://example.com:11211/_stats',     HTTPS ],
  [ 'javascript:alert(1)',                   HTTPS ],
  [ 'data:text/plain,x',                     HTTPS ],
  [ 'ws://example.com',                      HTTPS ],
  [ '//example.com/hook',                    HTTPS ],
  [ 'example.com/hook',                      HTTPS ],
  [ '/hook',                                 HTTPS ],
  [ '',                                      HTTPS ],
  [ 'https:example.com',                     HTTPS ],
  [ 'https:/example.com',                    HTTPS ],
  [ 'https://',                              HTTPS ],
  [ 'https://exa mple.com/',                 SPACES ],
  [ 'https://[::1',                          HTTPS ],
  [ 'https://1.2.3.4.5/',                    HTTPS ],
  [ 'https://256.256.256.256/',              HTTPS ],
  [ 'https://example.com:99999/',            HTTPS ],
  // read differently by different parsers
  [ 'https://example.com\\@127.0.0.1/',      SPACES ],
  [ 'https:\\\\127.0.0.1\\',                 SPACES ],
  [ 'https://127.0.0.1\t/',                  SPACES ],
  [ 'https://exam\nple.com/',                SPACES ],
  [ ' https://127.0.0.1/',                   SPACES ],
  [ 'https://127.0.0.1/\r\nHost: x',         SPACES ],
  [ 'https://127.0.0.1/\0',                  SPACES ],
  // a user
  [ 'https://user:password@example.com/',    USER ],
  [ 'https://user@example.com/',             USER ],
  [ 'https://example.com@127.0.0.1/',        USER ],
  [ 'https://:password@example.com/',        USER ],
  // ports
  [ 'https://example.com:22/',               PORT ],
  [ 'https://example.com:25/',               PORT ],
  [ 'https://example.com:80/',               PORT ],
  [ 'https://example.com:0/',                PORT ],
  [ 'https://example.com:1023/',             PORT ],
  [ 'https://example.com:00022/',            PORT ],
  // this machine, by name
  [ 'https://localhost/',                    HOST ],
  [ 'https://LOCALHOST/',                    HOST ],
  [ 'https://ｌｏｃａｌｈｏｓｔ/',            HOST ],
  [ 'https://loc%61lhost/',                  HOST ],
  [ 'https://a.b.localhost/',                HOST ],
  [ 'https://localhost./',                   'must not have a dot at the end of its host' ],
  [ 'https://example.com./',                 'must not have a dot at the end of its host' ],
  // this machine, by number
  [ 'https://127.0.0.1/',                    HOST ],
  [ 'https://127.255.255.254/',              HOST ],
  [ 'https://127.1/',                        HOST ],
  [ 'https://2130706433/',                   HOST ],
  [ 'https://0x7f.0.0.1/',                   HOST ],
  [ 'https://0x7f000001/',                   HOST ],
  [ 'https://0177.0.0.1/',                   HOST ],
  [ 'https://017700000001/',                 HOST ],
  [ 'https://１２７.0.0.1/',                 HOST ],
  [ 'https://①②⑦.⓪.⓪.①/',                  HOST ],
  [ 'https://127。0。0。1/',                  HOST ],
  [ 'https://%31%32%37.0.0.1/',              HOST ],
  [ 'https://0/',                            HOST ],
  [ 'https://0.0.0.0/',                      HOST ],
  [ 'https://0.1.2.3/',                      HOST ],
  [ 'https://[::]/',                         HOST ],
  [ 'https://[::1]/',                        HOST ],
  [ 'https://[0:0:0:0:0:0:0:1]/',            HOST ],
  // networks of our own
  [ 'https://10.0.0.1/',                     HOST ],
  [ 'https://172.16.0.1/',                   HOST ],
  [ 'https://172.31.255.255/',               HOST ],
  [ 'https://192.168.1.1/',                  HOST ],
  [ 'https://169.254.169.254/latest/',       HOST ],
  [ 'https://2852039166/',                   HOST ],
  [ 'https://100.64.0.1/',                   HOST ],
  [ 'https://100.100.100.200/',              HOST ],
  [ 'https://[fc00::1]/',                    HOST ],
  [ 'https://[fd00:ec2::254]/',              HOST ],
  [ 'https://[fe80::1]/',                    HOST ],
  [ 'https://[fec0::1]/',                    HOST ],
  // of nobody
  [ 'https://192.0.0.8/',                    HOST ],
  [ 'https://192.0.2.1/',                    HOST ],
  [ 'https://198.18.0.1/',                   HOST ],
  [ 'https://198.51.100.1/',                 HOST ],
  [ 'https://203.0.113.1/',                  HOST ],
  [ 'https://224.0.0.1/',                    HOST ],
  [ 'https://240.0.0.1/',                    HOST ],
  [ 'https://255.255.255.255/',              HOST ],
  [ 'https://192.88.99.1/',                  HOST ],
  [ 'https://[100::1]/',                     HOST ],
  [ 'https://[2001:db8::1]/',                HOST ],
  [ 'https://[3fff::1]/',                    HOST ],
  [ 'https://[5f00::1]/',                    HOST ],
  [ 'https://[ff02::1]/',                    HOST ],
  [ 'https://[4000::1]/',                    HOST ],
  // IPv4 inside IPv6, public or not
  [ 'https://[::ffff:127.0.0.1]/',           HOST ],
  [ 'https://[::ffff:7f00:1]/',              HOST ],
  [ 'https://[::ffff:93.184.215.14]/',       HOST ],
  [ 'https://[::ffff:0:127.0.0.1]/',         HOST ],
  [ 'https://[::127.0.0.1]/',                HOST ],
  [ 'https://[::a9fe:a9fe]/',                HOST ],
  [ 'https://[64:ff9b::127.0.0.1]/',         HOST ],
  [ 'https://[64:ff9b::a9fe:a9fe]/',         HOST ],
  [ 'https://[64:ff9b:1::7f00:1]/',          HOST ],
  [ 'https://[2002:7f00:1::]/',              HOST ],
  [ 'https://[2002:a9fe:a9fe::1]/',          HOST ],
  [ 'https://[2001:0:7f00:1::]/',            HOST ],
  [ 'https://[2001:2::1]/',                  HOST ],
  [ 'https://[2001:20::1]/',                 HOST ],
];

test.each(HOSTILE)('the url %p is refused: %s', async (url, issue) => {
  expect(await vetUrl(url, { loopback: false, resolve: anywhere })).toEqual({
    kind: 'refused',
    issue,
  });
});

test('at least 60 hostile urls are refused, and the loopback allowance opens this machine alone', async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(60);
  const opened: string[] = [];
  for (const [url] of HOSTILE) {
    const vetted = await vetUrl(url, { loopback: true, resolve: anywhere });
    if (vetted.kind === 'public') opened.push(vetted.url.origin);
  }
  expect([...new Set(opened)]).toEqual(['https://localhost', 'https://127.0.0.1', 'https://[::1]']);
});

// prettier-ignore
test.each([
  'https://example.com/hook',
  'https://example.com:443/hook',
  'https://example.com:8443/hook?a=b',
  'https://example.com:1024/',
  'HTTPS://EXAMPLE.COM/Hook',
  'https://bücher.example/hook',
  'https://localhost.example.com/',
  'https://mylocalhost/',
  'https://a.b-c.d_e.example/',
])('the url %s is accepted', async (url) => {
  const vetted = await vetUrl(url, { loopback: false, resolve: anywhere });
  expect(vetted).toMatchObject({ kind: 'public', addresses: [PUBLIC, PUBLIC_6] });
});

test('a url with an IP address needs no name server', async () => {
  const resolve: Resolve = () => Promise.reject(new Error('asked'));
  const [four, six] = await Promise.all(
    [`https://${PUBLIC}/`, `https://[${PUBLIC_6}]:8443/`].map((url) =>
      vetUrl(url, { loopback: false, resolve }),
    ),
  );
  expect(four).toMatchObject({ kind: 'public', addresses: [PUBLIC] });
  expect(six).toMatchObject({ kind: 'public', addresses: [PUBLIC_6] });
});

// prettier-ignore
test.each([
  // what a name resolves to                       kind
  [ [PUBLIC],                                      'public' ],
  [ [PUBLIC, PUBLIC_6],                            'public' ],
  [ [],                                            'unresolved' ],
  [ ['127.0.0.1'],                                 'refused' ],
  [ [PUBLIC, '127.0.0.1'],                         'refused' ],
  [ [PUBLIC, PUBLIC_6, '::1'],                     'refused' ],
  [ [PUBLIC, '::ffff:127.0.0.1'],                  'refused' ],
  [ ['169.254.169.254'],                           'refused' ],
  [ [PUBLIC, 'fe80::1%eth0'],                      'refused' ],
  [ ['0177.0.0.1'],                                'refused' ],
  [ ['example.com'],                               'refused' ],
])('a name that resolves to %p is %s', async (addresses, kind) => {
  const vetted = await vetUrl('https://hooks.example/', { loopback: false, resolve: async () => addresses });
  expect(vetted.kind).toBe(kind as typeof vetted.kind);
});

// prettier-ignore
test.each([
  // with the loopback allowance              what is connected to, '' where it is refused
  [ 'http://localhost:3000/hook',             '127.0.0.1 ::1' ],
  [ 'http://127.0.0.1:3000/hook',             '127.0.0.1' ],
  [ 'http://[::1]:3000/hook',                 '::1' ],
  [ 'http://127.1:3000/hook',                 '127.0.0.1' ],
  [ 'http://localhost/hook',                  '127.0.0.1 ::1' ],
  [ 'https://localhost:8443/hook',            '127.0.0.1 ::1' ],
  [ 'http://localhost:22/',                   '' ],
  [ 'http://127.0.0.2:3000/',                 '' ],
  [ 'http://user@localhost:3000/',            '' ],
  [ 'http://a.localhost:3000/',               '' ],
  [ 'http://localhost.:3000/',                '' ],
  [ 'http://0.0.0.0:3000/',                   '' ],
  [ 'http://[::ffff:127.0.0.1]:3000/',        '' ],
  [ 'http://example.com/',                    '' ],
  [ 'http://constructor:3000/',               '' ],
])('with loopback allowed, %s is %p', async (url, addresses) => {
  const resolve: Resolve = () => Promise.reject(new Error('asked'));
  const vetted = await vetUrl(url, { loopback: true, resolve });
  expect(vetted.kind === 'public' ? vetted.addresses.join(' ') : '').toBe(addresses);
});

test('a name that resolves to this machine is refused even with loopback allowed', async () => {
  const resolve: Resolve = async () => ['127.0.0.1'];
  const vetted = await vetUrl('https://127.0.0.1.nip.example/', { loopback: true, resolve });
  expect(vetted).toEqual({ kind: 'refused', issue: HOST });
});

test('a url of 2048 characters is accepted, and no longer one', async () => {
  const url = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;
  const vet = (length: number) => vetUrl(url(length), { loopback: false, resolve: anywhere });
  expect(await vet(2049)).toEqual({ kind: 'refused', issue: 'must have at most 2048 characters' });
  expect(await vet(2048)).toMatchObject({ kind: 'public' });
});

// prettier-ignore
test.each([
  // a block that is not public, and its neighbours that are
  [ '0.0.0.0',       '0.255.255.255',   '',               '1.0.0.0' ],
  [ '10.0.0.0',      '10.255.255.255',  '9.255.255.255',  '11.0.0.0' ],
  [ '100.64.0.0',    '100.127.255.255', '100.63.255.255', '100.128.0.0' ],
  [ '127.0.0.0',     '127.255.255.255', '126.255.255.255', '128.0.0.0' ],
  [ '169.254.0.0',   '169.254.255.255', '169.253.255.255', '169.255.0.0' ],
  [ '172.16.0.0',    '172.31.255.255',  '172.15.255.255', '172.32.0.0' ],
  [ '192.0.0.0',     '192.0.0.255',     '191.255.255.255', '192.0.1.0' ],
  [ '192.0.2.0',     '192.0.2.255',     '192.0.1.255',    '192.0.3.0' ],
  [ '192.168.0.0',   '192.168.255.255', '192.167.255.255', '192.169.0.0' ],
  [ '198.18.0.0',    '198.19.255.255',  '198.17.255.255', '198.20.0.0' ],
  [ '198.51.100.0',  '198.51.100.255',  '198.51.99.255',  '198.51.101.0' ],
  [ '203.0.113.0',   '203.0.113.255',   '203.0.112.255',  '203.0.114.0' ],
  [ '224.0.0.0',     '255.255.255.255', '223.255.255.255', '' ],
  [ '2001::',        '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '', '2001:200::' ],
  [ '2001:db8::',    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::' ],
  [ '2002::',        '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::' ],
  [ '::',            '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', '2000::' ],
  [ '4000::',        'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '' ],
])('the addresses from %s to %s are not public, next to %p and %p', (first, last, before, after) => {
  expect([first, last].map(isPublicAddress)).toEqual([false, false]);
  expect([before, after].filter((address) => address !== '' && !isPublicAddress(address))).toEqual([]);
});

test('no IPv6 address that stands for an IPv4 address is public', () => {
  const octet = fc.nat(255);
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const hex = [(a << 8) | b, (c << 8) | d].map((half) => half.toString(16)).join(':');
      const forms = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'].map((p) => p + hex);
      const all = [...forms, `2002:${hex}::1`, `2001:0:${hex}::1`];
      expect(all.filter(isPublicAddress)).toEqual([]);
    }),
    { seed: 6, numRuns: 300 },
  );
});

test.each(Object.getOwnPropertyNames(Object.prototype))(
  'the host %s is taken as any other name',
  async (name) => {
    for (const loopback of [true, false]) {
      const asked: string[] = [];
      const resolve: Resolve = async (hostname) => {
        asked.push(hostname);
        return [];
      };
      const vetted = await vetUrl(`https://${name}/`, { loopback, resolve });
      expect([vetted, asked]).toEqual([{ kind: 'unresolved' }, [name.toLowerCase()]]);
    }
  },
);
