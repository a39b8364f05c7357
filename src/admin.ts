// Administration from the command line: what a dashboard would do.
import { administer } from './admin/administer.ts';

process.exitCode = await administer(process.argv.slice(2), {
  environment: process.env,
  input: () => Bun.stdin.stream(),
  print: (line) => console.log(line),
  error: (line) => console.error(line),
});
