import { testStreams } from './streams-struck.ts';

testStreams(4);
