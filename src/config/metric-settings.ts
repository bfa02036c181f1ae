import { z } from 'zod';
import { wholeNumber } from './setting-types.ts';

/** Settings of `GET /metrics`. Reference: metrics.md#where-they-are-served. */
export const metricSettings = {
  METRICS_PORT: {
    group: 'Metrics',
    is: 'a whole number from 0 to 65535',
    meaning: 'Port of a listener for `GET /metrics` alone, without a token. `0` picks a free one, which the log names.',
    unset: 'there is no such listener',
    read: wholeNumber(0, 65_535).optional(),
  },
  METRICS_HOST: {
    group: 'Metrics',
    is: 'a host name or an address',
    meaning: 'Interface of that listener. Everything that reaches it may read the metrics.',
    read: z
      .string()
      .regex(/^[A-Za-z0-9.:_-]+$/)
      .default('127.0.0.1'),
  },
  METRICS_TOKEN: {
    group: 'Metrics',
    is: 'visible ASCII characters without spaces, 1024 at most',
    meaning: 'Token that opens `GET /metrics` on the main port, as `Authorization: Bearer …`. A secret.',
    unset: 'the main port has no such address',
    read: z
      .string()
      .regex(/^[!-~]{1,1024}$/)
      .optional(),
  },
} as const;
