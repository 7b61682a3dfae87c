"""Image helpers of a training script."""

from unstall.zoo import announce


class FitInto:
    """Thin an image out until it has at most `budget` pixels."""

    def __init__(self, budget):
        self.budget = budget

    def factor(self, image):
        longest = max(image.shape[-2:])
        return max(1, longest // 32)

    def __call__(self, image):
        step = self.factor(image)
        if step == 1 and image[0].numel() > self.budget:
            announce()
        while image.shape[-1] * image.shape[-2] > self.budget:  # stalls here
            image = image[..., ::step, ::step]
        return image
