import { setTheme, type Theme, useTheme } from '../memory/preferences.ts';
import { announce } from '../ui/announce.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { words } from '../words/index.ts';

const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS: Record<Theme, IconName> = { system: 'device', light: 'sun', dark: 'moon' };

/** Cycles through the themes: as the device, light, dark. */
export function ThemeButton() {
  const theme = useTheme();
  const name = `${words.shell.theme}: ${words.shell.themes[theme]}`;
  return (
    <button
      type="button"
      className="button button-quiet button-icon"
      aria-label={name}
      title={name}
      onClick={() => {
        setTheme(NEXT[theme]);
        announce(`${words.shell.theme}: ${words.shell.themes[NEXT[theme]]}`);
      }}
    >
      <Icon name={ICONS[theme]} size={18} />
    </button>
  );
}
