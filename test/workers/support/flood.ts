// Receivers whose answers are too large, in a process of their own: their memory is not the
// sender's.
import { gzipSync } from 'node:zlib';
import { answer, forever, Receiver } from './receiver.ts';

const piece = Buffer.alloc(65_536, 'x');
const large = await Receiver.open(
  forever('HTTP/1.1 200 OK\r\ncontent-length: 8388608\r\n\r\n', piece),
);
const endless = await Receiver.open(forever('HTTP/1.1 200 OK\r\n\r\n', piece));
const bomb = await Receiver.open(
  answer('200 OK', {
    headers: ['content-encoding: gzip'],
    body: gzipSync(Buffer.alloc(64 * 1024 * 1024)),
  }),
);
console.log(JSON.stringify([large, endless, bomb].map(({ port }) => port)));
