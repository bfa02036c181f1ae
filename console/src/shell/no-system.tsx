import { describe } from '../api/describe.ts';
import { settings } from '../settings.ts';
import { MessagePage } from '../ui/states.tsx';
import { words } from '../words/index.ts';

/** Shown if the system's model could not be loaded. @param isUnknown whether no system has this id */
export function NoSystem({ error, isUnknown, onRetry }: { error: unknown; isUnknown: boolean; onRetry: () => void }) {
  const { text, detail } = describe(error);
  return (
    <main id="main">
      <MessagePage
        title={isUnknown ? words.errors.noSystemTitle : words.errors.systemTitle}
        text={isUnknown ? words.signIn.unknownSystem : text}
      >
        {!isUnknown && detail && (
          <p>
            {words.errors.answer} <bdi dir="ltr">{detail}</bdi>
          </p>
        )}
        <button type="button" className="button" onClick={onRetry}>
          {words.shell.retry}
        </button>
        {/* A page of the server, which redirects a signed-in user to the right place. */}
        <a href={`${settings.root}/sign-in`} className="button button-main">
          {words.signIn.title}
        </a>
      </MessagePage>
    </main>
  );
}
