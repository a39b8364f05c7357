// A body in chunks of one byte is read whole, in a few pieces.
import { expect, test } from 'bun:test';
import { piecesOf } from '../../../src/http/edge/body.ts';
import { sendRaw } from '../../support/raw.ts';

const CHUNKS = 40_000;
const PIECES_MAX = 1000;

test('chunks of one byte that have come together are one piece', async () => {
  const pieces: number[] = [];
  using server = Bun.serve({
    port: 0,
    async fetch(request) {
      for await (const piece of piecesOf(request)) pieces.push(piece.byteLength);
      return new Response();
    },
  });
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  const sent = Buffer.from(`${head}${'1\r\nx\r\n'.repeat(CHUNKS)}0\r\n\r\n`);
  expect(await sendRaw(server.url.href, sent)).toEqual(['200']);
  expect(pieces.reduce((sum, bytes) => sum + bytes, 0)).toBe(CHUNKS);
  expect(pieces.length).toBeLessThan(PIECES_MAX);
});
