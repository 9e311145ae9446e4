// A block of text that a button copies; where a browser forbids that, it is selected, so that a key copies it.

function selectAll(box) {
  const range = document.createRange();
  range.selectNodeContents(box);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

async function copyText(box) {
  try {
    await navigator.clipboard.writeText(box.textContent);
    return true;
  } catch { // no permission, or no clipboard where the page was not opened securely
    selectAll(box);
    return document.execCommand("copy");
  }
}

function startCopying() {
  const button = document.getElementById("copy");
  button?.addEventListener("click", async () => {
    const isCopied = await copyText(document.getElementById("recommendation"));
    document.getElementById("copied").textContent = isCopied ? "Copied." : "Selected: press Ctrl+C, or ⌘C.";
  });
}
