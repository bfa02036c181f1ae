import { Link } from 'wouter';
import { NoConnection } from '../api/failure.ts';
import { queryClient } from '../api/query-client.ts';
import { useSystem } from '../api/system.tsx';
import { signOut } from '../api/writes.ts';
import { LanguageButton } from '../choices/language-button.tsx';
import { ThemeButton } from '../choices/theme-button.tsx';
import { draftsOf, useDraftVersion } from '../memory/drafts.ts';
import { shortened } from '../model/text.ts';
import { SearchBox } from '../search/search-box.tsx';
import { settings } from '../settings.ts';
import { announce } from '../ui/announce.tsx';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import styles from './banner-bar.module.css';
import { Bars } from './bars.tsx';

const MAX_NAME = 80;

/** The system's name, search, and the user's menu. */
export function BannerBar({ isNavOpen, onToggleNav }: { isNavOpen: boolean; onToggleNav: () => void }) {
  const { appId, model, paths } = useSystem();
  useDraftVersion();
  const unsaved = draftsOf(appId, model.me.objectId).length;
  const name = shortened(model.me.name.trim() || model.me.username, MAX_NAME);
  const system = shortened(model.system.name || words.product, MAX_NAME);
  const leave = async () => {
    try {
      await signOut(appId);
    } catch (error) {
      // Any answer means that the session is over.
      if (error instanceof NoConnection) return announce(words.shell.offline);
    }
    queryClient.clear();
    location.assign(`${settings.root}/sign-in?app=${encodeURIComponent(appId)}`);
  };
  return (
    <header ref={measured} className={styles.header}>
      <Bars />
      <div className={styles.banner}>
        <button
          type="button"
          className={`button button-quiet button-icon ${styles.toggle}`}
          aria-label={isNavOpen ? words.shell.hideTables : words.shell.showTables}
          aria-expanded={isNavOpen}
          aria-controls="tables"
          onClick={onToggleNav}
        >
          <Icon name={isNavOpen ? 'close' : 'menu'} size={18} />
        </button>
        <Link href={paths.home} className={styles.system} aria-label={`${system}, ${words.shell.home}`}>
          <span className={styles.mark} aria-hidden="true" />
          <bdi className="clipped">{system}</bdi>
        </Link>
        <SearchBox />
        <div className={styles.own}>
          {unsaved > 0 && (
            <Link href={`${paths.home}#drafts`} className={styles.unsaved}>
              <span className={styles.count} aria-hidden="true">
                {unsaved}
              </span>
              <span className={styles.words}>{words.shell.unsaved(unsaved)}</span>
            </Link>
          )}
          <LanguageButton />
          <ThemeButton />
          <Link href={paths.page('me')} className={`button button-quiet ${styles.me}`} title={words.shell.me}>
            <span className={styles.avatar} aria-hidden="true">
              {initials(name)}
            </span>
            <bdi className="clipped">{name}</bdi>
          </Link>
          <button type="button" className={`button button-quiet ${styles.out}`} onClick={leave}>
            <Icon name="exit" />
            <span>{words.shell.signOut}</span>
          </button>
        </div>
      </div>
    </header>
  );
}

function initials(name: string): string {
  const parts = name.split(/[\s@.]+/).filter(Boolean);
  return parts
    .slice(0, 2)
    .map((part) => [...part][0] ?? '')
    .join('')
    .toLocaleUpperCase();
}

/** Publishes the banner's height to the styles, for the offset of sticky elements below it. */
function measured(header: HTMLElement | null): (() => void) | undefined {
  if (!header) return;
  const observer = new ResizeObserver(() => {
    document.documentElement.style.setProperty('--banner-height', `${header.offsetHeight}px`);
  });
  observer.observe(header);
  return () => observer.disconnect();
}
