import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { OperatorError } from '../kernel/operator-error.ts';
import { type SettingName, settingNames } from './settings.ts';

/** An invalid setting that stops the start. Its message never holds a setting's value. */
export class ConfigError extends OperatorError {}

/** Settings as text. An empty one counts as not set. */
export type Environment = Readonly<Partial<Record<SettingName, string>>>;

/** Foreign variables that the `.env` file may hold: the keys of an S3-compatible store. */
const foreign = /^AWS_[A-Z0-9_]+$/;

/** Variables of custom functions, which find them under the rest of the name. Reference: functions.md#environment. */
const ofFunctions = /^FUNCTION_ENV_([A-Za-z_][A-Za-z0-9_]*)$/;

/** Variable by which the primary process tells its workers which installation they serve (`Administration.installation`). */
export const INSTALLATION = 'RECORD_SERVICE_INSTALLATION';

/** Returns the installation that a worker must serve; undefined in other processes. */
export const expectedInstallation = (): string | undefined => process.env[INSTALLATION];

/** Variables that were copied from the file to the environment, which a changed file replaces. */
const copied = new Set<string>();

/**
 * Returns the settings of the process environment and, if one is missing there, of the `.env` file in a directory. The file's AWS variables are
 * copied to the environment, where the S3 client looks for them.
 * @throws ConfigError for a `.env` file that cannot be read or names an unknown setting
 */
export function readEnvironment(directory: string): Environment {
  const file = readFileVariables(join(directory, '.env'));
  const settings = mergeEnvironment(process.env, file);
  for (const name of copied) delete process.env[name];
  copied.clear();
  for (const [name, value] of Object.entries(file)) {
    if (!foreign.test(name) || !value || process.env[name]) continue;
    process.env[name] = value;
    copied.add(name);
  }
  return settings;
}

/** Returns the environment variables of custom functions, of the process environment and the `.env` file in a directory. @throws ConfigError */
export function readFunctionEnvironment(directory: string): Readonly<Record<string, string>> {
  return functionEnvironment(process.env, readFileVariables(join(directory, '.env')));
}

/** Merges the variables of custom functions of both; the first wins. */
export function functionEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  file: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, value] of [...Object.entries(file), ...Object.entries(variables)]) {
    const [, own] = ofFunctions.exec(name) ?? [];
    if (own !== undefined && value) found.set(own, value);
  }
  return Object.fromEntries(found);
}

/** Merges the known settings of both; the first wins. @throws ConfigError for an unknown name in the second */
export function mergeEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  file: Readonly<Record<string, string | undefined>>,
): Environment {
  for (const name of Object.keys(file))
    if (!settingNames.has(name) && !foreign.test(name) && !ofFunctions.test(name))
      throw new ConfigError(`.env: unknown setting ${name}`);
  const found: Partial<Record<SettingName, string>> = {};
  for (const name of settingNames as ReadonlySet<SettingName>) {
    const value = variables[name] || (Object.hasOwn(file, name) ? file[name] : undefined);
    if (value) found[name] = value;
  }
  return found;
}

function readFileVariables(path: string): Readonly<Record<string, string | undefined>> {
  if (!existsSync(path)) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError('.env: cannot be read');
  }
  checkLines(text);
  return parseEnv(text);
}

/**
 * Checks each line of a `.env` file, because Node ignores lines that it cannot parse, and a lost setting would be noticed late. @throws ConfigError
 */
export function checkLines(text: string): void {
  const withoutComments = text.replace(/^[ \t]*#.*$/gm, '');
  const withoutQuoted = withoutComments.replace(/=\s*(["'`])[\s\S]*?\1/g, (quoted) => `=${quoted.replace(/[^\n]/g, '')}`);
  const assignment = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=|^\s*$/;
  const wrong = withoutQuoted.split('\n').findIndex((line) => !assignment.test(line));
  if (wrong >= 0) throw new ConfigError(`.env: line ${wrong + 1} is not NAME=value`);
}
