import { isIP } from 'node:net';
import { z } from 'zod';
import { appIdPattern, keyForm, keyPattern } from '../kernel/credentials.ts';
import { parseCron } from '../kernel/cron.ts';
import { limits } from '../kernel/limits.ts';
import { parseS3Url } from './files-url.ts';
import { parseRetention } from './retention.ts';

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most);

const urlOf = (...protocols: string[]) => z.string().refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''));

/** The address of a host and perhaps a path, without a slash at its end. */
const baseUrl = urlOf('http:', 'https:').transform((text) => text.replace(/\/+$/, ''));

const filesUrl = z.string().transform((text, context) => {
  const location = parseS3Url(text);
  if (location !== null) return Object.freeze(location);
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

const key = z.string().regex(keyPattern);

const off = new Set(['false', 'off', 'no', '0']);
const on = new Set(['true', 'on', 'yes']);
const namedNetworks = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Whose `X-Forwarded-*` headers count: nobody's, everybody's, or those of proxies at these addresses and networks. */
const trustProxy = z.string().transform((text, context): boolean | string[] => {
  if (off.has(text)) return false;
  if (on.has(text)) return true;
  const addresses = text.split(',').map((address) => address.trim());
  if (addresses.every(isNetwork)) return addresses;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

function isNetwork(text: string): boolean {
  if (namedNetworks.has(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

const milliseconds = wholeNumber(1, 2_147_483_647);

/** Every setting: how it is read, and what it has to be, for the line that refuses it (CONTRACT "Running"). */
export const settings = {
  HOST: {
    is: 'a host name or an address',
    read: z
      .string()
      .regex(/^[A-Za-z0-9.:_-]+$/)
      .default('127.0.0.1'),
  },
  PORT: { is: 'a whole number from 0 to 65535', read: wholeNumber(0, 65_535).default(8080) },
  BASE_URL: { is: 'an http or https address', read: baseUrl.optional() },
  STATIC_URL: { is: 'an http or https address', read: baseUrl.optional() },
  SITE_ASSETS_URL: { is: 'an http or https address', read: baseUrl.optional() },
  DATA_DIR: { is: 'a directory', read: z.string().default('./data') },
  DATABASE_URL: { is: 'a postgres:// address', read: urlOf('postgres:', 'postgresql:').optional() },
  DATABASE_CONNECTIONS: { is: 'a whole number from 6 to 1000', read: wholeNumber(6, 1_000).default(12) },
  WEB_CONCURRENCY: { is: 'a whole number from 1 to 256', read: wholeNumber(1, 256).default(1) },
  FILES_URL: {
    is: 's3://bucket/prefix, with endpoint, region, forcePathStyle or forms as parameters, and without keys',
    read: filesUrl.optional(),
  },
  SMTP_URL: { is: 'an smtp:// or smtps:// address', read: urlOf('smtp:', 'smtps:').optional() },
  MAIL_FROM: {
    is: 'an e-mail address',
    read: z
      .string()
      .regex(/^[^\r\n]*\S@\S+[^\r\n]*$/)
      .optional(),
  },
  APP_ID: {
    is: '1 to 64 letters, digits, - or _',
    read: z.string().regex(appIdPattern).optional(),
  },
  MASTER_KEY: { is: keyForm, read: key.optional() },
  API_KEY: { is: keyForm, read: key.optional() },
  ADMIN_EMAIL: {
    is: 'an e-mail address',
    read: z
      .string()
      .regex(/^[^\s@]+@[^\s@]+$/)
      .max(320)
      .optional(),
  },
  ADMIN_PASSWORD: { is: 'a text', read: z.string().optional() },
  FUNCTIONS_DIR: { is: 'a directory', read: z.string().default('./functions') },
  FUNCTION_TIMEOUT_MS: { is: 'a whole number of milliseconds, 1 or more', read: milliseconds.default(30_000) },
  FUNCTION_BODY_BYTES: {
    is: `a whole number of bytes from 1 to ${limits.bodyBytes}`,
    read: wholeNumber(1, limits.bodyBytes).default(limits.functionBodyBytes),
  },
  RATE_LIMIT_FUNCTIONS: { is: 'a whole number of requests a minute, 0 for no limit', read: wholeNumber(0, 1_000_000).default(0) },
  RATE_LIMIT_LOGIN: { is: 'a whole number of requests a minute, 0 for no limit', read: wholeNumber(0, 1_000_000).default(0) },
  TRUST_PROXY: { is: 'on, off, or the addresses of the proxies', read: trustProxy.default(false) },
  LOG_LEVEL: {
    is: 'one of fatal, error, warn, info, debug, trace, silent',
    read: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  },
  SESSION_DAYS: { is: 'a whole number of days from 1 to 36500', read: wholeNumber(1, 36_500).default(365) },
  REQUEST_LOG_DAYS: {
    is: 'a whole number of days up to 36500, 0 for ever',
    read: wholeNumber(0, 36_500).default(30),
  },
  TRIGGER_LOG_DAYS: {
    is: 'a whole number of days up to 36500, 0 for ever',
    read: wholeNumber(0, 36_500).default(90),
  },
  TIMELINE_DAYS: {
    is: 'a whole number of days up to 36500, 0 for ever',
    read: wholeNumber(0, 36_500).default(0),
  },
  QUERY_TIMEOUT_MS: { is: 'a whole number of milliseconds, 1 or more', read: milliseconds.default(30_000) },
  BACKUP_URL: {
    is: 'a folder, or s3://bucket/prefix with endpoint or region as parameters, and without keys',
    read: z
      .string()
      .refine((text) => !text.startsWith('s3:') || parseS3Url(text) !== null)
      .optional(),
  },
  BACKUP_CRON: {
    is: 'a cron of 5 or 6 fields',
    read: z
      .string()
      .transform((text) => text.trim().split(/\s+/).join(' '))
      .refine((text) => parseCron(text, 'UTC')?.nextRun() != null)
      .default('15 2 * * *'),
  },
  BACKUP_KEEP: {
    is: 'such as 48h,30d,12m',
    read: z
      .string()
      .refine((text) => parseRetention(text) !== null)
      .optional(),
  },
  BACKUP_RECIPIENTS: {
    is: 'a comma list of public keys of age (age1…)',
    read: z
      .string()
      .transform((text) => text.split(',').map((recipient) => recipient.trim()))
      .refine((recipients) => recipients.every((recipient) => /^age1[0-9a-z]{20,}$/.test(recipient)))
      .default([]),
  },
  SYSTEM_IDLE_MS: { is: 'a whole number of milliseconds, 1 or more', read: milliseconds.default(600_000) },
} as const;

export type SettingName = keyof typeof settings;
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settings));
