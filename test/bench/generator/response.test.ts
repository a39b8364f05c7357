import { expect, test } from 'bun:test';
import { type Answer, HeadLayout, ResponseReader } from './response.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
const REFUSED = 'HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy';

// prettier-ignore
test.each<[string, string, Answer]>([
  ['a success',                     OK,                                                'ok'],
  ['lower case and more headers',   'HTTP/1.1 201 Ok\r\na: b\r\ncontent-length: 0\r\nc: d\r\n\r\n', 'ok'],
  ['no content',                    'HTTP/1.1 204 No\r\n\r\n',                         'ok'],
  ['chunks',                        CHUNKED,                                           'ok'],
  ['a refusal',                     REFUSED,                                           'refused'],
  ['bytes after the end',           `${OK}!`,                                          'broken'],
  ['no length',                     'HTTP/1.1 200 OK\r\n\r\nhello',                    'broken'],
])('an HTTP response of %s is read in one piece and byte by byte', (_name, text, answer) => {
  const layout = new HeadLayout();
  const whole = new ResponseReader(layout);
  expect(whole.take(Buffer.from(text))).toBe(answer);
  if (answer === 'broken') return;
  // The second head begins as the first one did.
  for (const piecewise of [new ResponseReader(layout), new ResponseReader(new HeadLayout())]) {
    for (const byte of Buffer.from(text.slice(0, -1))) {
      expect(piecewise.take(Buffer.from([byte]))).toBe('partial');
    }
    expect(piecewise.take(Buffer.from(text.slice(-1)))).toBe(answer);
  }
});

test('a response that is a refusal tells what it was', () => {
  const reader = new ResponseReader(new HeadLayout());
  reader.take(Buffer.from(REFUSED));
  expect(reader.shown()).toEndWith('busy');
});

test('a response reader is as good as new after each answer', () => {
  const reader = new ResponseReader(new HeadLayout());
  for (const [text, answer] of [
    [OK, 'ok'],
    [REFUSED, 'refused'],
    [CHUNKED, 'ok'],
    [OK, 'ok'],
  ]) {
    expect(reader.take(Buffer.from(text ?? ''))).toBe(answer as Answer);
    reader.reset();
  }
});
