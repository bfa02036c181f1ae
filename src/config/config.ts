import { resolve } from 'node:path';
import { z } from 'zod';
import { ConfigError, type Environment, readEnvironment, readFunctionEnvironment } from './env.ts';
import type { S3Location } from './files-url.ts';
import { type SettingName, settings } from './settings.ts';
import { type TracingSettings, tracingOf } from './tracing.ts';

/** The settings that are not secret. Immutable. */
export interface Config {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** The service's address as clients see it; `undefined`: the address it listens on. No slash at the end. */
  readonly baseUrl: string | undefined;
  readonly staticUrl: string | undefined;
  readonly siteAssetsUrl: string | undefined;
  /** Absolute. */
  readonly dataDir: string;
  /** Maximum number of PostgreSQL connections of a process. */
  readonly databaseConnections: number;
  /** Number of serving processes; more than one needs PostgreSQL. */
  readonly webConcurrency: number;
  /** `undefined`: files are on the disk. */
  readonly filesUrl: S3Location | undefined;
  readonly mailFrom: string | undefined;
  /** Absolute. */
  readonly functionsDir: string;
  /** Time limit of a custom function in milliseconds. */
  readonly functionTimeout: number;
  /** Memory that a thread of custom functions may use, in MiB. */
  readonly functionMemoryMb: number;
  /** Maximum bytes of the body of a function call. */
  readonly functionBodyBytes: number;
  /** Requests a minute from one address; 0: no limit. */
  readonly rateLimits: { readonly functions: number; readonly login: number };
  readonly trustProxy: boolean | string[];
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  readonly sessionDays: number;
  /** Days that rows of the request log are kept; 0: for ever. */
  readonly requestLogDays: number;
  /** Days that rows of `_syslogTriggers` are kept; 0: for ever. */
  readonly triggerLogDays: number;
  /** Days that rows of `_Timeline` are kept; 0: for ever. */
  readonly timelineDays: number;
  /** Days that rows of `_AdminLog` are kept; 0: for ever. */
  readonly adminLogDays: number;
  /** Milliseconds. */
  readonly queryTimeout: number;
  /** Listener for the metrics alone; `undefined`: none. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** Milliseconds from which on a query is logged; 0: none is. */
  readonly slowQueryMs: number;
  /** Scheduled backups; `undefined`: none. */
  readonly backup: BackupSettings | undefined;
  /** Milliseconds after which an unused system is closed. */
  readonly systemIdle: number;
}

/** Scheduled backups. Reference: backup.md#scheduled-backups. */
export interface BackupSettings {
  /** A folder, or `s3://…`. */
  readonly url: string;
  /** UTC. */
  readonly cron: string;
  /** As `parseRetention` parses it; `undefined`: all are kept. */
  readonly keep: string | undefined;
  /** Public keys of age. */
  readonly recipients: readonly string[];
}

/** Settings that must never be shown. The keys, and the administrator, are those of the first system. */
export interface Secrets {
  readonly appId: string | undefined;
  readonly masterKey: string | undefined;
  readonly apiKey: string | undefined;
  readonly adminEmail: string | undefined;
  readonly adminPassword: string | undefined;
  readonly smtpUrl: string | undefined;
  /** Selects PostgreSQL; it holds a password. */
  readonly databaseUrl: string | undefined;
  /** Opens `GET /metrics` on the main port. */
  readonly metricsToken: string | undefined;
  /** The environment variables of custom functions. */
  readonly functionEnv: Readonly<Record<string, string>>;
  /** `undefined`: traces are off. */
  readonly tracing: TracingSettings | undefined;
}

/** All settings. */
export interface Settings {
  readonly config: Config;
  readonly secrets: Secrets;
}

const shape = z.object(Object.fromEntries(Object.entries(settings).map(([name, { read }]) => [name, read])) as Shape);
type Shape = { [Name in SettingName]: (typeof settings)[Name]['read'] };

/**
 * Reads the settings from the environment and the `.env` file of a directory.
 * @throws ConfigError with one line that names each invalid setting
 */
export function loadSettings(directory: string): Settings {
  return parseSettings(readEnvironment(directory), directory, readFunctionEnvironment(directory));
}

/** Parses settings. @param directory base of relative paths @param functionEnv variables of custom functions @throws ConfigError */
export function parseSettings(environment: Environment, directory: string, functionEnv: Secrets['functionEnv'] = {}): Settings {
  const parsed = shape.safeParse(environment);
  if (!parsed.success) throw new ConfigError(describe(parsed.error));
  const read = parsed.data;
  if (read.WEB_CONCURRENCY > 1 && read.DATABASE_URL === undefined)
    throw new ConfigError('WEB_CONCURRENCY: more than one process needs DATABASE_URL');
  if (read.MASTER_KEY !== undefined && read.MASTER_KEY === read.API_KEY)
    throw new ConfigError('API_KEY: must differ from MASTER_KEY');
  return {
    config: Object.freeze({
      host: read.HOST,
      port: read.PORT,
      baseUrl: read.BASE_URL,
      staticUrl: read.STATIC_URL,
      siteAssetsUrl: read.SITE_ASSETS_URL,
      dataDir: resolve(directory, read.DATA_DIR),
      databaseConnections: read.DATABASE_CONNECTIONS,
      webConcurrency: read.WEB_CONCURRENCY,
      filesUrl: read.FILES_URL,
      mailFrom: read.MAIL_FROM,
      functionsDir: resolve(directory, read.FUNCTIONS_DIR),
      functionTimeout: read.FUNCTION_TIMEOUT_MS,
      functionMemoryMb: read.FUNCTION_MEMORY_MB,
      functionBodyBytes: read.FUNCTION_BODY_BYTES,
      rateLimits: Object.freeze({ functions: read.RATE_LIMIT_FUNCTIONS, login: read.RATE_LIMIT_LOGIN }),
      trustProxy: read.TRUST_PROXY,
      logLevel: read.LOG_LEVEL,
      sessionDays: read.SESSION_DAYS,
      requestLogDays: read.REQUEST_LOG_DAYS,
      triggerLogDays: read.TRIGGER_LOG_DAYS,
      timelineDays: read.TIMELINE_DAYS,
      adminLogDays: read.ADMIN_LOG_DAYS,
      queryTimeout: read.QUERY_TIMEOUT_MS,
      metrics: read.METRICS_PORT === undefined ? undefined : Object.freeze({ host: read.METRICS_HOST, port: read.METRICS_PORT }),
      slowQueryMs: read.SLOW_QUERY_MS,
      backup: read.BACKUP_URL === undefined ? undefined : backupOf({ ...read, BACKUP_URL: read.BACKUP_URL }),
      systemIdle: read.SYSTEM_IDLE_MS,
    }),
    secrets: Object.freeze({
      appId: read.APP_ID,
      masterKey: read.MASTER_KEY,
      apiKey: read.API_KEY,
      adminEmail: read.ADMIN_EMAIL,
      adminPassword: read.ADMIN_PASSWORD,
      smtpUrl: read.SMTP_URL,
      databaseUrl: read.DATABASE_URL,
      metricsToken: read.METRICS_TOKEN,
      functionEnv: Object.freeze({ ...functionEnv }),
      tracing: tracingOf(read),
    }),
  };
}

function backupOf(read: {
  readonly BACKUP_URL: string;
  readonly BACKUP_CRON: string;
  readonly BACKUP_KEEP?: string | undefined;
  readonly BACKUP_RECIPIENTS: readonly string[];
}): BackupSettings {
  return Object.freeze({
    url: read.BACKUP_URL,
    cron: read.BACKUP_CRON,
    keep: read.BACKUP_KEEP,
    recipients: Object.freeze(read.BACKUP_RECIPIENTS),
  });
}

function describe(error: z.ZodError): string {
  const names = new Set(error.issues.map((issue) => issue.path[0] as SettingName));
  return [...names].map((name) => `${name}: must be ${settings[name].is}`).join('; ');
}
