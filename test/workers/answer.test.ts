import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Answer, type HttpReply, type Reading } from '../../workers/answer.ts';
import { threadCpuMs } from '../support/cpu.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

function read(pieces: readonly Buffer[]): { reading: Reading; reply: HttpReply | null } {
  const answer = new Answer();
  let reading: Reading = 'more';
  for (const piece of pieces) {
    reading = answer.read(piece);
    if (reading !== 'more') break;
  }
  return { reading, reply: answer.reply };
}

const whole = (text: string) => read([Buffer.from(text, 'latin1')]);

// prettier-ignore
const ANSWERS: [what: string, text: string, reading: Reading, head: string | null][] = [
  [ 'nothing more than its headers',  `${OK}content-length: 0\r\n\r\n`,                               'over', '' ],
  [ 'a body of a length',             `${OK}Content-Length:  2 \r\n\r\nok`,                           'over', 'ok' ],
  [ 'no reason',                      'HTTP/1.1 204\r\n\r\n',                                         'over', '' ],
  [ 'a length without a body',        'HTTP/1.1 304 x\r\ncontent-length: 9\r\n\r\n',                  'over', '' ],
  [ 'bytes after its end',            `${OK}content-length: 2\r\n\r\nok!`,                            'cut', 'ok' ],
  [ 'bytes after none',               'HTTP/1.1 204 x\r\n\r\nok',                                     'cut', '' ],
  [ 'no length',                      `${OK}\r\nok`,                                                  'more', 'ok' ],
  [ 'a wish to close',                `${OK}connection: foo, Close\r\ncontent-length: 2\r\n\r\nok`,   'cut', 'ok' ],
  [ 'two lines of a wish to close',   `${OK}connection: close\r\nconnection: a\r\ncontent-length: 0\r\n\r\n`, 'cut', '' ],
  [ 'the version before',             'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',               'cut', 'ok' ],
  [ 'announcements',                  `HTTP/1.1 103 x\r\nlink: a\r\n\r\n${OK}content-length: 0\r\n\r\n`, 'over', '' ],
  [ 'a header on two lines',          `${OK}a: b\r\n c\r\ncontent-length: 0\r\n\r\n`,                 'over', '' ],
  [ 'a length on two lines',          `${OK}content-length: 1\r\n 2\r\n\r\n`,                         'protocol', null ],
  [ 'chunks',                         `${CHUNKED}1\r\no\r\n01 ;a=b\r\nk\r\n0\r\n\r\n`,                'over', 'ok' ],
  [ 'chunks and trailers',            `${CHUNKED}A\r\n0123456789\r\n0\r\na: b\r\nc: d\r\n\r\n`,       'over', '0123456789' ],
  [ 'bytes after its chunks',         `${CHUNKED}0\r\n\r\nHTTP/1.1 200 OK`,                           'cut', '' ],
  [ 'a chunk that is longer',         `${CHUNKED}1\r\nok\r\n0\r\n\r\n`,                               'cut', 'o' ],
  [ 'no size of a chunk',             `${CHUNKED}x\r\nok\r\n0\r\n\r\n`,                               'cut', '' ],
  [ 'a size of many digits',          `${CHUNKED}000000001\r\no\r\n`,                                 'cut', '' ],
  [ 'a size without CR',              `${CHUNKED}1\no\r\n0\r\n\r\n`,                                  'cut', '' ],
  [ 'another encoding after chunks',  `${OK}transfer-encoding: chunked, gzip\r\n\r\nok`,              'more', 'ok' ],
  [ 'chunks on a second line',        `${OK}transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 'over', '' ],
  [ 'a length and chunks',            `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n`, 'protocol', null ],
  [ 'the same length twice',          `${OK}content-length: 2\r\ncontent-length: 2\r\n\r\nok`,        'protocol', null ],
  [ 'two lengths in one',             `${OK}content-length: 2, 2\r\n\r\nok`,                          'protocol', null ],
  [ 'a length below nothing',         `${OK}content-length: -2\r\n\r\nok`,                            'protocol', null ],
  [ 'a length beyond numbers',        `${OK}content-length: 99999999999999999999\r\n\r\nok`,          'protocol', null ],
  [ 'a space before a colon',         `${OK}content-length : 2\r\n\r\nok`,                            'protocol', null ],
  [ 'a header without a name',        `${OK}: 2\r\n\r\nok`,                                           'protocol', null ],
  [ 'a line break within a header',   `${OK}a: b\nc: d\r\n\r\nok`,                                    'protocol', null ],
  [ 'a status beyond three digits',   'HTTP/1.1 2000 x\r\n\r\n',                                      'protocol', null ],
  [ 'another version',                'HTTP/2.0 200 OK\r\n\r\n',                                      'protocol', null ],
  [ 'a ninth announcement',           'HTTP/1.1 100 x\r\n\r\n'.repeat(9),                             'protocol', null ],
  [ 'half of a status line',          'HTTP/1.1 20',                                                  'more', null ],
  [ 'half of another protocol',       'HTTP/1.1\r\n',                                                 'protocol', null ],
];

test.each(ANSWERS)('an HTTP answer with %s is read', (_what, text, reading, head) => {
  const { reading: got, reply } = whole(text);
  expect([got, reply?.head ?? null]).toEqual([reading, head]);
});

test('an HTTP answer split at any byte reads as the same answer', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ANSWERS),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 }),
      ([, text], sizes) => {
        // What follows an end counts only where it comes with it.
        const bytes = Buffer.from(text, 'latin1');
        const pieces: Buffer[] = [];
        let at = 0;
        for (const size of sizes) {
          if (at >= bytes.length) break;
          pieces.push(bytes.subarray(at, (at += size)));
        }
        if (at < bytes.length) pieces.push(bytes.subarray(at));
        const [split, one] = [read(pieces), whole(text)];
        expect(split.reply).toEqual(one.reply);
        if (!(split.reading === 'over' && one.reading === 'cut')) {
          expect(split.reading).toBe(one.reading);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('of two Retry-After headers the first counts', () => {
  const { reply } = whole('HTTP/1.1 503 x\r\nretry-after: 5\r\nRetry-After: 9\r\n\r\n');
  expect(reply?.retryAfter).toBe('5');
});

// prettier-ignore
test.each([
  [ 'spaces in a header',    `${OK}connection: a${' '.repeat(16_000)}b\r\n\r\n`,            'more' ],
  [ 'lines that go on',      `${OK}a: b${'\r\n '.repeat(5000)}\r\n\r\n`,                    'more' ],
  [ 'commas',                `${OK}transfer-encoding: ${', '.repeat(8000)}x\r\n\r\n`,       'more' ],
  [ 'spaces after a size',   `${CHUNKED}1${' '.repeat(16_000)}x\r\n`,                       'cut' ],
  [ 'extensions',            `${CHUNKED}1;${'a'.repeat(17_000)}`,                           'cut' ],
  [ 'one byte in a chunk',   `${CHUNKED}${'1\r\nx\r\n'.repeat(4000)}`,                      'cut' ],
])('an HTTP answer of 16 kB of %s is read in time', (_what, text, reading) => {
  const bytes = Buffer.from(text, 'latin1');
  const before = threadCpuMs();
  expect(read([bytes]).reading).toBe(reading as Reading);
  // Byte for byte it is the same, and no more than the receiver's own work.
  expect(read(Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))).reading).toBe(
    reading as Reading,
  );
  // A search from each byte again would take seconds.
  expect(threadCpuMs() - before).toBeLessThan(1000);
});
