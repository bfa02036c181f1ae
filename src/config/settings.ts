import { z } from 'zod';
import { appIdPattern, keyForm, keyPattern } from '../kernel/credentials.ts';
import { parseCron } from '../kernel/cron.ts';
import { limits } from '../kernel/limits.ts';
import { parseS3Url } from './files-url.ts';
import { observingSettings } from './observing-settings.ts';
import { parseRetention } from './retention.ts';
import { baseUrl, filesUrl, hostName, milliseconds, trustProxy, urlOf, wholeNumber } from './setting-types.ts';

const key = z.string().regex(keyPattern);

/** Headings of settings.md, in their order. */
export const settingGroups = [
  ...(['Addresses', 'Storage', 'First system', 'Mail', 'Functions', 'Rate limits'] as const),
  ...(['Sessions and time limits', 'Logs and retention', 'Metrics', 'Traces', 'Backups'] as const),
] as const;

/** A setting, as it is read and as it is described in settings.md. */
interface Setting {
  readonly group: (typeof settingGroups)[number];
  /** What the value has to be. Part of the message that refuses another value. */
  readonly is: string;
  readonly meaning: string;
  /** What applies without a value, if `read` has no default. */
  readonly unset?: string;
  readonly read: z.ZodType;
}

/** Every setting. Reference: settings.md#settings. */
export const settings = {
  HOST: {
    group: 'Addresses',
    is: 'a host name or an address',
    meaning: 'Interface that the service listens on. `0.0.0.0` listens on all.',
    read: hostName.default('127.0.0.1'),
  },
  PORT: {
    group: 'Addresses',
    is: 'a whole number from 0 to 65535',
    meaning: 'Port that the service listens on. `0` picks a free one, which the first line of output names.',
    read: wholeNumber(0, 65_535).default(8080),
  },
  BASE_URL: {
    group: 'Addresses',
    is: 'an http or https address',
    meaning:
      'Address of the service as clients see it. Links in mail and addresses of files begin with it: set it behind a proxy.',
    unset: '`http://HOST:PORT`',
    read: baseUrl.optional(),
  },
  STATIC_URL: {
    group: 'Addresses',
    is: 'an http or https address',
    meaning: 'Address that public files are read from, for example a CDN in front of the service.',
    unset: '`BASE_URL/static`',
    read: baseUrl.optional(),
  },
  SITE_ASSETS_URL: {
    group: 'Addresses',
    is: 'an http or https address',
    meaning: 'Read and checked, and without effect yet.',
    unset: '`BASE_URL/site-assets`',
    read: baseUrl.optional(),
  },
  TRUST_PROXY: {
    group: 'Addresses',
    is: 'on, off, or the addresses of the proxies',
    meaning:
      'Peers that may set `X-Forwarded-*` headers: addresses and networks (`10.0.0.0/8, loopback`). With `on`, clients choose their own address.',
    read: trustProxy.default(false),
  },
  WEB_CONCURRENCY: {
    group: 'Addresses',
    is: 'a whole number from 1 to 256',
    meaning: 'Number of processes that serve. More than one needs PostgreSQL.',
    read: wholeNumber(1, 256).default(1),
  },
  DATA_DIR: {
    group: 'Storage',
    is: 'a directory',
    meaning:
      'Directory of the embedded stores, local files, kept mail and generated secrets. A relative path starts at the working directory.',
    read: z.string().default('./data'),
  },
  DATABASE_URL: {
    group: 'Storage',
    is: 'a postgres:// address',
    meaning: 'Database that keeps the records. All processes of an installation share it.',
    unset: 'the embedded store in `DATA_DIR`',
    read: urlOf('postgres:', 'postgresql:').optional(),
  },
  DATABASE_CONNECTIONS: {
    group: 'Storage',
    is: 'a whole number from 6 to 1000',
    meaning: 'Number of connections that each process may open to PostgreSQL.',
    read: wholeNumber(6, 1_000).default(12),
  },
  FILES_URL: {
    group: 'Storage',
    is: 's3://bucket/prefix, with endpoint, region, forcePathStyle or forms as parameters, and without keys',
    meaning: 'S3-compatible store of uploaded files. Its keys come from the standard AWS variables.',
    unset: '`DATA_DIR/files`',
    read: filesUrl.optional(),
  },
  SYSTEM_IDLE_MS: {
    group: 'Storage',
    is: 'a whole number of milliseconds, 1 or more',
    meaning: 'Time without requests after which a system is closed. The next request opens it again.',
    read: milliseconds.default(600_000),
  },
  APP_ID: {
    group: 'First system',
    is: '1 to 64 letters, digits, - or _',
    meaning: 'Application id of the first system.',
    unset: 'generated',
    read: z.string().regex(appIdPattern).optional(),
  },
  MASTER_KEY: {
    group: 'First system',
    is: keyForm,
    meaning: 'Master key of the first system.',
    unset: 'generated',
    read: key.optional(),
  },
  API_KEY: {
    group: 'First system',
    is: keyForm,
    meaning: 'API key of the first system, named `default`. It must differ from the master key.',
    unset: 'generated',
    read: key.optional(),
  },
  ADMIN_EMAIL: {
    group: 'First system',
    is: 'an e-mail address',
    meaning: 'User name and e-mail address of the first administrator.',
    unset: '`admin@example.com`',
    read: z
      .string()
      .regex(/^[^\s@]+@[^\s@]+$/)
      .max(320)
      .optional(),
  },
  ADMIN_PASSWORD: {
    group: 'First system',
    is: 'a text',
    meaning: 'Password of the first administrator. The password policy applies.',
    unset: 'generated',
    read: z.string().optional(),
  },
  SMTP_URL: {
    group: 'Mail',
    is: 'an smtp:// or smtps:// address',
    meaning: 'Mail server, with user name and password percent-encoded in the address.',
    unset: 'messages are kept in `DATA_DIR/mail`',
    read: urlOf('smtp:', 'smtps:').optional(),
  },
  MAIL_FROM: {
    group: 'Mail',
    is: 'an e-mail address',
    meaning: 'Sender of outgoing mail, optionally with a name (`"Example <service@example.com>"`).',
    unset: '`no-reply@` and the host of `BASE_URL`',
    read: z
      .string()
      .regex(/^[^\r\n]*\S@\S+[^\r\n]*$/)
      .optional(),
  },
  FUNCTIONS_DIR: {
    group: 'Functions',
    is: 'a directory',
    meaning: 'Directory of custom functions, one file each.',
    read: z.string().default('./functions'),
  },
  FUNCTION_TIMEOUT_MS: {
    group: 'Functions',
    is: 'a whole number of milliseconds, 1 or more',
    meaning: 'Time limit of a custom function. Beyond it: status 503.',
    read: milliseconds.default(30_000),
  },
  FUNCTION_MEMORY_MB: {
    group: 'Functions',
    is: 'a whole number of mebibytes from 64 to 16384',
    meaning: 'Memory that a thread of custom functions may use. Beyond it the thread is ended: status 400.',
    read: wholeNumber(64, 16_384).default(512),
  },
  FUNCTION_BODY_BYTES: {
    group: 'Functions',
    is: `a whole number of bytes from 1 to ${limits.bodyBytes}`,
    meaning: 'Largest body of a function call. Beyond it: status 413.',
    read: wholeNumber(1, limits.bodyBytes).default(limits.functionBodyBytes),
  },
  RATE_LIMIT_FUNCTIONS: {
    group: 'Rate limits',
    is: 'a whole number of requests a minute, 0 for no limit',
    meaning: 'Function calls a minute from one address (IPv6: one /64), counted by each process. Beyond it: status 429.',
    read: wholeNumber(0, 1_000_000).default(0),
  },
  RATE_LIMIT_LOGIN: {
    group: 'Rate limits',
    is: 'a whole number of requests a minute, 0 for no limit',
    meaning:
      'Logins and password resets a minute from one address (IPv6: one /64), counted by each process. Beyond it: status 429.',
    read: wholeNumber(0, 1_000_000).default(0),
  },
  SESSION_DAYS: {
    group: 'Sessions and time limits',
    is: 'a whole number of days from 1 to 36500',
    meaning: 'Lifetime of a session, from the login on. It applies to sessions that are opened afterwards.',
    read: wholeNumber(1, 36_500).default(365),
  },
  QUERY_TIMEOUT_MS: {
    group: 'Sessions and time limits',
    is: 'a whole number of milliseconds, 1 or more',
    meaning: 'Time limit of a query. Beyond it: status 503 with code 124.',
    read: milliseconds.default(30_000),
  },
  LOG_LEVEL: {
    group: 'Logs and retention',
    is: 'one of fatal, error, warn, info, debug, trace, silent',
    meaning: 'Least severe level that is logged. `debug` has a line for each request.',
    read: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  },
  REQUEST_LOG_DAYS: {
    group: 'Logs and retention',
    is: 'a whole number of days up to 36500, 0 for ever',
    meaning: 'How long rows of `_RequestLog` are kept.',
    read: wholeNumber(0, 36_500).default(30),
  },
  TRIGGER_LOG_DAYS: {
    group: 'Logs and retention',
    is: 'a whole number of days up to 36500, 0 for ever',
    meaning: 'How long rows of `_syslogTriggers` are kept.',
    read: wholeNumber(0, 36_500).default(90),
  },
  TIMELINE_DAYS: {
    group: 'Logs and retention',
    is: 'a whole number of days up to 36500, 0 for ever',
    meaning: 'How long rows of `_Timeline` are kept.',
    read: wholeNumber(0, 36_500).default(0),
  },
  ADMIN_LOG_DAYS: {
    group: 'Logs and retention',
    is: 'a whole number of days up to 36500, 0 for ever',
    meaning: 'How long rows of `_AdminLog` are kept.',
    read: wholeNumber(0, 36_500).default(365),
  },
  ...observingSettings,
  BACKUP_URL: {
    group: 'Backups',
    is: 'a folder, or s3://bucket/prefix with endpoint or region as parameters, and without keys',
    meaning: 'Destination of the backups that the service makes by itself.',
    unset: 'the service makes no backups',
    read: z
      .string()
      .refine((text) => !text.startsWith('s3:') || parseS3Url(text) !== null)
      .optional(),
  },
  BACKUP_CRON: {
    group: 'Backups',
    is: 'a cron of 5 or 6 fields',
    meaning: 'When backups are made, in UTC.',
    read: z
      .string()
      .transform((text) => text.trim().split(/\s+/).join(' '))
      .refine((text) => parseCron(text, 'UTC')?.nextRun() != null)
      .default('15 2 * * *'),
  },
  BACKUP_KEEP: {
    group: 'Backups',
    is: 'such as 48h,30d,12m',
    meaning: 'Which backups are kept: the newest of each of the last hours, days and months. The newest of all always stays.',
    unset: 'all are kept',
    read: z
      .string()
      .refine((text) => parseRetention(text) !== null)
      .optional(),
  },
  BACKUP_RECIPIENTS: {
    group: 'Backups',
    is: 'a comma list of public keys of age (age1…)',
    meaning: 'Keys that backups are encrypted for.',
    read: z
      .string()
      .transform((text) => text.split(',').map((recipient) => recipient.trim()))
      .refine((recipients) => recipients.every((recipient) => /^age1[0-9a-z]{20,}$/.test(recipient)))
      .default([]),
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settings;
export const settingNames: ReadonlySet<string> = new Set(Object.keys(settings));
