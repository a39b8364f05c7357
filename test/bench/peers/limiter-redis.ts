import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { peerSettings } from './door.ts';
import { serveLimiter, WINDOW } from './limiter.ts';

const settings = peerSettings();
const storeClient = new Redis(settings.redisUrl, { enableAutoPipelining: true });
await serveLimiter(settings, new RateLimiterRedis({ ...WINDOW, storeClient }));
