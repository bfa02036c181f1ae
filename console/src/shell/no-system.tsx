import { describe } from '../api/describe.ts';
import { settings } from '../settings.ts';
import { MessagePage } from '../ui/states.tsx';
import { words } from '../words/index.ts';

/** In place of a system that did not answer as one. @param isUnknown whether there is none of this id. */
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
        {/* Another page of the server: it knows where one who is signed in belongs. */}
        <a href={`${settings.root}/sign-in`} className="button button-main">
          {words.signIn.title}
        </a>
      </MessagePage>
    </main>
  );
}
