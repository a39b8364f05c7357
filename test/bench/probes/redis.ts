import { Redis } from 'ioredis';

/** The process that serves this URL. */
export async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}
