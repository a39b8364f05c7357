// The client's table of operations and its types are what the document says.
import { test } from 'bun:test';
import { expectGenerated } from '../support/generated.ts';
import { operationsText, resourcesText, typesText } from './client-text.ts';

const command = 'bun run client:types';

test('src/client/operations.ts is as it is generated', async () => {
  expectGenerated({ path: 'src/client/operations.ts', text: await operationsText(), command });
});

test('src/client/resources.ts is as it is generated', async () => {
  expectGenerated({ path: 'src/client/resources.ts', text: await resourcesText(), command });
});

test('src/client/types.ts is as it is generated', async () => {
  expectGenerated({ path: 'src/client/types.ts', text: await typesText(), command });
});
