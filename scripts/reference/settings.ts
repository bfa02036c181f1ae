import { type SettingName, settingGroups, settings } from '../../src/config/settings.ts';
import { slugOf } from '../headings.ts';
import { code, paragraphs, table, wrap } from './page.ts';

/** The section of settings.md: for each group a table, then each setting below a heading of its own. */
export function settingSections(): string[] {
  const names = Object.keys(settings) as SettingName[];
  const groups = settingGroups.map((group) => {
    const members = names.filter((name) => settings[name].group === group);
    return paragraphs(
      `## ${group}`,
      table(
        ['Setting', 'Value', 'Default'],
        members.map((name) => [`[${code(name)}](#${slugOf(name)})`, settings[name].is, defaultOf(name)]),
      ),
      ...members.flatMap((name) => [`### ${name}`, wrap(settings[name].meaning)]),
    );
  });
  return [paragraphs(...groups)];
}

function defaultOf(name: SettingName): string {
  const setting = settings[name];
  if ('unset' in setting) return setting.unset;
  const value: unknown = setting.read.parse(undefined);
  if (value === false) return 'off';
  if (Array.isArray(value)) return 'none';
  return code(String(value));
}
